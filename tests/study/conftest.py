from __future__ import annotations

from ..rows.conftest import dask_client, spark  # noqa: F401
