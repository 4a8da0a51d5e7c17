"""Three public datasets with checksums, and the public constants that scale them: general knowledge, not the rows."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .docstrings import described
from .errors import EptrError

__all__ = ["DatasetError", "load_california_housing", "load_credit_default", "load_wine_quality"]

Array = NDArray[np.float64]


class DatasetError(EptrError, OSError):
    """A dataset is neither here nor could it be fetched; the message says what to do."""


@dataclass(frozen=True, slots=True)
class _File:
    """One text file: its name in a data folder, its checksum, and how to cut it out of what the public source offers."""

    name: str
    sha256: str
    url: str
    extract: Callable[[bytes], bytes]
    advice: str


def _from_zip(member: str) -> Callable[[bytes], bytes]:
    return lambda content: zipfile.ZipFile(io.BytesIO(content)).read(member)


def _from_tar(member: str) -> Callable[[bytes], bytes]:
    def extract(content: bytes) -> bytes:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            found = archive.extractfile(member)
            return b"" if found is None else found.read()

    return extract


_UCI = "https://archive.ics.uci.edu/static/public"
RED = _File(
    "winequality-red.csv", "4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e",
    f"{_UCI}/186/wine+quality.zip", _from_zip("winequality-red.csv"), "https://doi.org/10.24432/C56S3T",
)  # fmt: skip
WHITE = _File(
    "winequality-white.csv", "76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836",
    f"{_UCI}/186/wine+quality.zip", _from_zip("winequality-white.csv"), "https://doi.org/10.24432/C56S3T",
)  # fmt: skip
CREDIT = _File(
    "UCI_Credit_Card.csv", "a0f0ab49d6326671d6cd83be5c88dcf18007025fe9a53ecd699119c871176ca1",
    # The original is an Excel file; this is the widely used CSV export of it.
    "https://www.kaggle.com/api/v1/datasets/download/uciml/default-of-credit-card-clients-dataset",
    _from_zip("UCI_Credit_Card.csv"), "https://doi.org/10.24432/C55S3H (as UCI_Credit_Card.csv)",
)  # fmt: skip
HOUSING = _File(
    "cal_housing.data", "a2b44dcc7e1c9091b43c4f458b25cbd1f7e8068d08edd26bc4703108d3fa6214",
    "https://ndownloader.figshare.com/files/5976036", _from_tar("CaliforniaHousing/cal_housing.data"),
    "https://doi.org/10.6084/m9.figshare.3829992.v2",
)  # fmt: skip

# Wine: what the trade knows of table wines (alcohol around 10.5 % by volume, pH around 3.2, ...), as location and scale.
WINE_SCALES = {
    "alcohol": (10.5, 1.2),
    "volatile acidity": (0.35, 0.16),
    "density": (0.995, 0.003),
    "chlorides": (0.055, 0.03),
    "free sulfur dioxide": (30.0, 17.0),
    "residual sugar": (6.0, 5.0),
    "pH": (3.2, 0.16),
}
# Credit cards: limits of about 140,000 NT dollars within a factor of 2.5, adults of about 35, payment codes from -2
# (no use) over 0 (revolving) to 8 (months late), payments of a few thousand dollars within a factor of e^2 to e^3.
CREDIT_SCALES = {
    "log limit": (11.8, 0.9),
    "age": (36.0, 10.0),
    "recent status": (0.0, 1.1),
    "mean status": (0.0, 1.0),
    "largest status": (0.5, 1.3),
    "share of months late": (0.15, 0.3),
    "utilisation": (0.4, 0.4),
    "log recent payment": (7.0, 3.0),
    "log mean payment": (8.0, 2.0),
    "log total payment": (9.8, 2.0),
    "payment to bill": (0.3, 0.35),
}
# California: income in 10,000 dollars, the box around the state, and ages of houses; ranges mapped to [0, 1].
HOUSING_RANGES = {
    "income": (0.0, 15.0),
    "latitude": (32.0, 42.0),
    "longitude": (-125.0, -114.0),
    "age": (0.0, 55.0),
}
# Of columns with a location and a scale: nothing that anybody would believe lies further away, in scales.
FAR = (-6.0, 6.0)


@described
def load_wine_quality(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """6,497 wines: seven physical measurements, scaled by public constants, and the quality score 0 to 10.

    Returns
    -------
    Bunch, or (data, target) with ``return_X_y``
        Target: the score. Regressions use (score - 5)/5. Cortez et al. (2009), CC BY 4.0.
    """
    (header, red), (_, white) = _table(RED, ";"), _table(WHITE, ";")
    table = np.vstack([red, white])
    data, quality = _columns(table, header, WINE_SCALES), table[:, header.index("quality")]
    facts = {"quality": {"low": 0, "high": 10, "integer": True}}
    return _bunch(data, quality, WINE_SCALES, FAR, facts, return_X_y, as_frame)


@described
def load_credit_default(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """30,000 credit card clients in Taiwan: eleven features scaled by public constants, and default (0 or 1).

    Returns
    -------
    Bunch, or (data, target) with ``return_X_y``
        Yeh and Lien (2009), CC BY 4.0.
    """
    header, table = _table(CREDIT, ",")

    def block(prefix: str, names: str) -> Array:
        return np.column_stack([table[:, header.index(prefix + k)] for k in names.split()])

    status, bills, paid = (
        block("PAY_", "0 2 3 4 5 6"),
        block("BILL_AMT", "1 2 3 4 5 6"),
        block("PAY_AMT", "1 2 3 4 5 6"),
    )
    limit = table[:, header.index("LIMIT_BAL")]
    raw = np.column_stack(
        [
            np.log(limit),
            table[:, header.index("AGE")],
            status[:, 0],
            status.mean(axis=1),
            status.max(axis=1),
            (status > 0).mean(axis=1),
            np.clip(bills.mean(axis=1) / limit, 0.0, 1.5),
            np.log1p(paid[:, 0]),
            np.log1p(paid.mean(axis=1)),
            np.log1p(paid.sum(axis=1)),
            np.clip(paid.sum(axis=1) / np.maximum(bills.sum(axis=1), 1.0), 0.0, 1.0),
        ]
    )
    data = _columns(raw, list(CREDIT_SCALES), CREDIT_SCALES)
    target = table[:, header.index("default.payment.next.month")].astype(int)
    return _bunch(data, target, CREDIT_SCALES, FAR, {"default": {"kind": "flag"}}, return_X_y, as_frame)


@described
def load_california_housing(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """20,640 block groups of the 1990 census: income, latitude, longitude and age on [0, 1]; value in 100,000 dollars, 0 to 5.

    Returns
    -------
    Bunch, or (data, target) with ``return_X_y``
        Pace and Barry (1997).
    """
    names = ["longitude", "latitude", "age", "rooms", "bedrooms", "population", "households", "income", "value"]
    _, table = _table(HOUSING, ",", names)
    scales = {name: (low, high - low) for name, (low, high) in HOUSING_RANGES.items()}
    data = _columns(table, names, scales)
    facts = {"value": {"low": 0, "high": 5, "unit": "100,000 dollars"}}
    return _bunch(data, np.clip(table[:, -1] / 1e5, 0.0, 5.0), scales, (0.0, 1.0), facts, return_X_y, as_frame)


def _columns(table: Array, header: list[str], scales: dict[str, tuple[float, float]]) -> Array:
    return np.column_stack([(table[:, header.index(c)] - m) / s for c, (m, s) in scales.items()])


def _bunch(
    data: Array,
    target: Any,
    scales: dict[str, tuple[float, float]],
    reach: tuple[float, float],
    facts: dict[str, Any],
    return_X_y: bool,
    as_frame: bool,
) -> Any:
    """``reach``: the range of a scaled column; ``facts``: what a codebook says of the target."""
    from sklearn.utils import Bunch

    from .codebook import Codebook

    features, frame, (name,) = list(scales), None, facts
    book = Codebook.from_dict({"columns": {f: {"low": reach[0], "high": reach[1]} for f in features} | facts})
    if as_frame:
        import pandas as pd

        data, target = pd.DataFrame(data, columns=features), pd.Series(target, name=name)
        frame = pd.concat([data, target], axis=1)
    if return_X_y:
        return data, target
    return Bunch(
        data=data, target=target, frame=frame, feature_names=features, target_names=[name], scales=dict(scales),
        codebook=book,
    )  # fmt: skip


def _table(file: _File, separator: str, names: list[str] | None = None) -> tuple[list[str], Array]:
    lines = _text(file).decode("utf-8-sig").splitlines()
    header = names or [c.strip().strip('"') for c in lines.pop(0).split(separator)]
    return header, np.loadtxt(lines, delimiter=separator, ndmin=2)


def _text(file: _File) -> bytes:
    """From EPTR_DATA_HOME, else from the cache, else from the public source; always checked."""
    folder = os.environ.get("EPTR_DATA_HOME")
    if folder:
        content = _read(Path(folder), file.name)
        if content is None:
            raise DatasetError(
                f"EPTR_DATA_HOME is set, but holds neither {file.name} nor {file.name}.gz; put it there (source: {file.advice})."
            )
        return _checked(file, content, f"{file.name} in EPTR_DATA_HOME")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "eptr"
    content = _read(cache, file.name)
    if content is None:
        content = _checked(file, _download(file), f"the download of {file.name}")
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=cache, delete=False) as temporary:
            temporary.write(content)
        os.replace(temporary.name, cache / file.name)
    return _checked(file, content, f"{file.name} in {cache}")


def _read(folder: Path, name: str) -> bytes | None:
    if (folder / name).exists():
        return (folder / name).read_bytes()
    packed = folder / f"{name}.gz"
    return gzip.decompress(packed.read_bytes()) if packed.exists() else None


def _checked(file: _File, content: bytes, where: str) -> bytes:
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise DatasetError(
            f"{where} is not the file it should be (SHA-256 differs); remove it and get it from {file.advice}."
        )
    return content


def _download(file: _File) -> bytes:
    try:
        with urllib.request.urlopen(file.url, timeout=60) as answer:
            return file.extract(answer.read())
    except (urllib.error.URLError, OSError, KeyError, zipfile.BadZipFile, tarfile.TarError):
        raise DatasetError(
            f"{file.name} could not be downloaded. Get it from {file.advice}, put it into a folder, and set EPTR_DATA_HOME "
            "to that folder."
        ) from None
