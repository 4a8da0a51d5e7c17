"""Rivals are tested with seeds and in forms that are not private: those warnings are beside the point here."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/rivals" in str(item.path).replace("\\", "/") and "warn" not in item.name:
            item.add_marker(pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::eptr.NoReplyWarning"))
