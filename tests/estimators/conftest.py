"""Estimators are tested with seeds and on data that may get no reply: here both warnings are beside the point."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/estimators" in str(item.path).replace("\\", "/") and "warning" not in item.name:
            item.add_marker(pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::eptr.NoReplyWarning"))
