from __future__ import annotations

import pytest

from .clusters import dask_cluster, require_java, spark_session


@pytest.fixture(scope="session")
def dask_client():
    with dask_cluster() as client:
        yield client


@pytest.fixture(scope="session")
def spark():
    require_java()
    with spark_session() as session:
        yield session
