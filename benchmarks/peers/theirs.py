"""Runs inside the peers' environment: diffprivlib and OpenDP fits on rows handed over as files, and their known defects.

Imports nothing of eptr. ``python theirs.py FOLDER`` writes FOLDER/theirs.json.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np


def linear(task):
    from diffprivlib.models import LinearRegression

    edge, top = task["x_edge"], float(task["y_bound"])
    model = LinearRegression(
        epsilon=float(task["epsilon"]), bounds_X=(-edge, edge), bounds_y=(-top, top), random_state=int(task["seed"]),
        fit_intercept=bool(task["intercept"]),
    )  # fmt: skip
    return {"diffprivlib LinearRegression (pure)": model.fit(task["X"], task["y"]).predict(task["test"]).tolist()}


def bayes(task):
    from diffprivlib.models import GaussianNB

    edge = task["x_edge"]
    model = GaussianNB(epsilon=float(task["epsilon"]), bounds=(-edge, edge), random_state=int(task["seed"]))
    return {"diffprivlib GaussianNB (pure)": model.fit(task["X"], task["y"]).predict(task["test"]).tolist()}


def odds(task):
    """Chances of the second class."""
    from diffprivlib.models import LogisticRegression

    norm = float(task["x_bound"])
    model = LogisticRegression(epsilon=float(task["epsilon"]), data_norm=norm, random_state=int(task["seed"]))
    chances = model.fit(task["X"], task["y"]).predict_proba(task["test"])[:, 1]
    return {"diffprivlib LogisticRegression (pure)": chances.tolist()}


def slope(task):
    """One column: the only regression OpenDP has."""
    import opendp.prelude as dp

    dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")
    edge, top = float(task["x_edge"][0]), float(task["y_bound"])

    def make(scale):
        return dp.sklearn.linear_model.LinearRegression(
            dp.max_divergence(), x_bounds=[(-edge, edge)], y_bounds=(-top, top), scale=scale, candidates_count=200
        )

    # Replacing a row is adding one and removing one: distance 2.
    scale = dp.binary_search(lambda s: make(s).measurement.map(2) <= float(task["epsilon"]), bounds=(1e-3, 1e4))
    model = make(scale).fit(task["X"], task["y"])
    return {**linear(task), "OpenDP LinearRegression (Theil-Sen, pure)": model.predict(task["test"]).tolist()}


def defects():
    """Each: what is claimed, what was seen."""
    import diffprivlib.models.linear_regression as module
    from diffprivlib.models import GaussianNB, LinearRegression

    found = []
    X, y = np.full((50, 1), 0.5), np.zeros(50)
    X[0] = 0.0
    sums = []
    for last in (0.0, 1.0):
        X[-1] = last
        _, coefficients = module._construct_regression_obj(
            X, y, (np.zeros(1), np.ones(1)), (np.zeros(1), np.ones(1)), 1.0, 0, np.random.RandomState(0)
        )
        sums.append(float(coefficients[2][0, 0]))
    found.append(
        [
            "diffprivlib 0.6.6 LinearRegression",
            "the sensitivity of a sum of squares is computed from the lower bound alone: with bounds [0, 1] its noise is zero",
            f"two neighbours release {sums[0]:g} and {sums[1]:g}, exactly",
            abs(sums[0] - sums[1]) == 1.0,
        ]
    )
    # A class sum of values in [10, 11] moves by about 10 when a label changes; the noise is calibrated to 1.
    y = np.array([0, 1] * 25)
    means = []
    for label in (0, 1):
        labels = y.copy()
        labels[0] = label
        values = [
            GaussianNB(epsilon=3.0, bounds=(10.0, 11.0), random_state=seed).fit(np.full((50, 1), 10.5), labels)
            for seed in range(400)
        ]
        means.append(float(np.mean([m.theta_[0, 0] * m.class_count_[0] for m in values])))
    found.append(
        [
            "diffprivlib 0.6.6 GaussianNB",
            "a class sum is said to move by at most upper - lower; a row that changes its label moves it by its whole value",
            f"claimed 1, the noisy class sums of two neighbours are {abs(means[0] - means[1]):.1f} apart on average",
            abs(means[0] - means[1]) > 5.0,
        ]
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = LinearRegression(epsilon=1.0, random_state=0).fit(np.arange(50.0)[:, None], np.arange(50.0))
    found.append(
        [
            "diffprivlib 0.6.6 LinearRegression",
            "without bounds it takes them from the data, warns, and keeps them on the fitted model",
            f"bounds_X = {model.bounds_X[0][0]:g}..{model.bounds_X[1][0]:g}, the smallest and largest private value",
            bool(caught and model.bounds_X[1][0] == 49.0),
        ]
    )
    return found


def main():
    warnings.simplefilter("ignore")
    folder, results = Path(sys.argv[1]), {}
    for path in sorted(folder.glob("*.npz")):
        task = dict(np.load(path))
        results[path.stem] = {"linear": linear, "bayes": bayes, "odds": odds, "slope": slope}[str(task["kind"])](task)
    (folder / "theirs.json").write_text(json.dumps({"results": results, "defects": defects()}))


if __name__ == "__main__":
    main()
