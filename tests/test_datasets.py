"""The three datasets: known facts, checksums, a real download from a real server, and clear words when there is none."""

from __future__ import annotations

import functools
import gzip
import http.server
import io
import os
import tarfile
import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eptr import datasets
from eptr.datasets import DatasetError, load_california_housing, load_credit_default, load_wine_quality

HOME = os.environ.get("EPTR_DATA_HOME")
needs_files = pytest.mark.skipif(not HOME, reason="set EPTR_DATA_HOME to a folder with the datasets")
LOADERS = (load_wine_quality, load_credit_default, load_california_housing)


@needs_files
def test_wine_is_as_published():
    X, quality = load_wine_quality(return_X_y=True)
    assert X.shape == (6497, 7)
    assert quality.mean() == pytest.approx(5.818378, abs=1e-6)
    assert np.bincount(quality.astype(int))[3:].tolist() == [30, 216, 2138, 2836, 1079, 193, 5]


@needs_files
def test_credit_is_as_published():
    bunch = load_credit_default()
    assert bunch.data.shape == (30_000, 11)
    assert bunch.target.sum() == 6636
    centre, scale = bunch.scales["age"]
    age = bunch.data[:, 1] * scale + centre
    assert (age.min(), age.max()) == (21, 79)
    assert age.mean() == pytest.approx(35.4855, abs=1e-4)
    assert np.exp(
        bunch.data[:, 0] * bunch.scales["log limit"][1] + bunch.scales["log limit"][0]
    ).mean() == pytest.approx(167484.32, abs=0.01)


@needs_files
def test_california_is_as_published():
    X, value = load_california_housing(return_X_y=True)
    assert X.shape == (20_640, 4)
    assert X.min() >= 0.0
    assert X[:, 1:].max() <= 1.0
    assert (value == 5.0).sum() >= 965
    assert (X[:, 0] * 15).mean() == pytest.approx(3.870671, abs=1e-6)


@needs_files
@pytest.mark.parametrize("load", LOADERS)
def test_frames_have_names(load):
    bunch = load(as_frame=True)
    assert list(bunch.frame.columns) == [*bunch.feature_names, *bunch.target_names]
    X, y = load(return_X_y=True, as_frame=True)
    assert list(X.columns) == bunch.feature_names
    assert y.name == bunch.target_names[0]


@pytest.mark.parametrize("load", LOADERS)
def test_an_incomplete_folder_says_what_is_missing(load, tmp_path, monkeypatch):
    monkeypatch.setenv("EPTR_DATA_HOME", str(tmp_path))
    with pytest.raises(DatasetError, match="EPTR_DATA_HOME"):
        load()


def test_a_file_that_was_changed_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("EPTR_DATA_HOME", str(tmp_path))
    (tmp_path / "cal_housing.data").write_text("1,2,3\n")
    with pytest.raises(DatasetError, match="SHA-256"):
        load_california_housing()


@pytest.fixture
def server(tmp_path):
    """A web server on this machine with the archives of the public sources."""
    folder = tmp_path / "www"
    folder.mkdir()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    handler.log_message = lambda *a: None
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield folder, f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


@needs_files
def test_download_once_then_from_the_cache(server, tmp_path, monkeypatch):
    folder, url = server
    with zipfile.ZipFile(folder / "wine.zip", "w") as archive:
        for name in ("winequality-red.csv", "winequality-white.csv"):
            archive.write(Path(HOME) / name, name)
    text = gzip.decompress((Path(HOME) / "cal_housing.data.gz").read_bytes())
    with tarfile.open(folder / "housing.tgz", "w:gz") as archive:
        info = tarfile.TarInfo("CaliforniaHousing/cal_housing.data")
        info.size = len(text)
        archive.addfile(info, io.BytesIO(text))
    monkeypatch.delenv("EPTR_DATA_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, file in (("RED", "wine.zip"), ("WHITE", "wine.zip"), ("HOUSING", "housing.tgz")):
        monkeypatch.setattr(datasets, name, replace(getattr(datasets, name), url=f"{url}/{file}"))
    first = load_wine_quality(return_X_y=True)[0], load_california_housing(return_X_y=True)[0]
    for archive in folder.iterdir():
        archive.unlink()
    second = load_wine_quality(return_X_y=True)[0], load_california_housing(return_X_y=True)[0]
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


def test_without_a_network_it_says_what_to_do(server, tmp_path, monkeypatch):
    _, url = server
    monkeypatch.delenv("EPTR_DATA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(datasets, "HOUSING", replace(datasets.HOUSING, url=f"{url}/missing"))
    with pytest.raises(DatasetError, match=r"Get it from https://doi.org.* set EPTR_DATA_HOME"):
        load_california_housing()


@needs_files
@pytest.mark.parametrize("load", LOADERS)
def test_every_dataset_has_its_codebook(load):
    found = load(as_frame=True)
    assert list(found.codebook) == list(found.frame)
    for name in found.frame:
        low, high = found.codebook[name].range
        assert found.frame[name].between(low, high).mean() > 0.98
