from __future__ import annotations

import pytest

from .clusters import dask_cluster, spark_session


@pytest.fixture(scope="session")
def dask_client():
    with dask_cluster() as client:
        yield client


@pytest.fixture(scope="session")
def spark():
    with spark_session() as session:
        yield session
