"""make bench-gpu: fits on arrays that live on a GPU, against the same fits of numpy arrays and scikit-learn in the same run.

Every fit is seeded, and must have the same bits as on numpy. Beside the seconds: how many bytes of rows a fit reads per
second, and what one product X'X of the same rows takes there.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB

import eptr

from .tables import show

MODELS = {
    "LinearRegression, refined": eptr.LinearRegression(x_bound=7.0, y_bound=6.0, random_state=0),
    "LinearRegression, paper": eptr.LinearRegression(
        x_bound=7.0, y_bound=6.0, strategy="paper", c0=0.1, coef_bound=4.0, random_state=0
    ),
    "BayesClassifier, refined": eptr.BayesClassifier(x_bound=7.0, classes=[0, 1], random_state=0),
    "LogisticRegression, refined": eptr.LogisticRegression(x_range=(-7.0, 7.0), classes=[0, 1], random_state=0),
    "AdditiveRegressor, refined": eptr.AdditiveRegressor(x_range=(-7.0, 7.0), y_range=(-6.0, 6.0), random_state=0),
    "KernelRegressor, refined": eptr.KernelRegressor(domain=(-4, 4), y_bound=6.0, bandwidth=0.4, random_state=0),
}
COLUMNS = {"KernelRegressor": 1, "AdditiveRegressor": 4}


def device_library():
    """torch or CuPy with a GPU, as (name, to the device, wait for it), or None."""
    try:
        import torch

        if torch.cuda.is_available():
            return (
                f"torch {torch.__version__}, {torch.cuda.get_device_name(0)}",
                lambda a: torch.as_tensor(a, device="cuda"),
                torch.cuda.synchronize,
            )
    except ImportError:
        pass
    try:
        import cupy

        if cupy.cuda.runtime.getDeviceCount():
            return f"CuPy {cupy.__version__}", cupy.asarray, cupy.cuda.runtime.deviceSynchronize
    except Exception:
        pass
    return None


def seconds(run, wait, repeats=5):
    run()
    times = []
    for _ in range(repeats):
        wait()
        start = time.perf_counter()
        run()
        wait()
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    n = parser.parse_args().rows
    warnings.simplefilter("ignore")
    found = device_library()
    if found is None:
        print("No GPU that torch or CuPy can use: nothing was measured.")
        return
    name, put, wait = found
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    y = X @ np.ones(20) / 4 + rng.normal(size=n)
    labels = (y > 0).astype(int)
    there, target, codes = put(X), put(y), put(labels)
    product = seconds(lambda: there.T @ there, wait)
    theirs = {
        "LinearRegression": LinearRegression().fit,
        "BayesClassifier": GaussianNB().fit,
        "LogisticRegression": LogisticRegression().fit,
    }
    rows = []
    for what, model in MODELS.items():
        kind = what.partition(",")[0]
        columns = COLUMNS.get(kind, 20)
        here, away = X[:, :columns], there[:, :columns]
        one, two = (labels, codes) if "Class" in kind or "Logistic" in kind else (y, target)
        on_numpy = seconds(lambda m=model, a=here, b=one: m.fit(a, b), lambda: None, repeats=3)
        bits = np.array(model.release_.value)
        on_device = seconds(lambda m=model, a=away, b=two: m.fit(a, b), wait)
        same = "yes" if np.array_equal(bits, np.asarray(model.release_.value)) else "to 1e-9"
        assert np.allclose(bits, np.asarray(model.release_.value), rtol=1e-9, atol=1e-9), what
        peer = theirs.get(kind)
        sklearn = seconds(lambda f=peer, b=one: f(X, b), lambda: None, repeats=1) if peer else float("nan")
        ratios = (
            on_numpy / on_device,
            sklearn,
            sklearn / on_device,
            here.nbytes / on_device / 1e9,
            on_device / product,
        )
        rows.append((what, on_device, on_numpy, *ratios, same))
    title = f"{name}; {n:,} rows x 20 columns of float64 (additive: 4, kernel: 1); one X'X there: {product:.4f} s"
    header = ["fit", "device s", "numpy s", "ratio", "scikit-learn s", "ratio to it", "GB/s", "in X'X", "same bits"]
    show(title, header, rows, "gpu")


if __name__ == "__main__":
    main()
