"""make peers: diffprivlib's and OpenDP's own estimators next to ours, on the same rows, and their known defects; seeded.

``python -m benchmarks.peers.compare PYTHON`` takes the interpreter of an environment with constraints/peers.txt installed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

import eptr
from eptr.datasets import DatasetError, load_credit_default, load_wine_quality
from eptr.estimators.catalogue import OURS
from eptr.rivals import DPNB, FunctionalMechanism, ObjectivePerturbation

from ..accuracy import _quiet
from ..compare import balanced, plain_bayes, split
from ..tables import show

EPSILONS, DELTA = (0.5, 1.0, 4.0), 1e-6


def simulated_linear(seed, p):
    rng = np.random.default_rng([seed, 51, p])
    theta = 1 / np.arange(1, p + 1)
    theta /= np.linalg.norm(theta)
    X, test = rng.normal(size=(8000, p)), rng.normal(size=(4000, p))
    y = X @ theta + rng.normal(size=8000)
    noise = rng.normal(size=4000)
    bounds = {"x_bound": 4.0, "y_bound": 4.0, "x_edge": np.full(p, 3.0), "intercept": True}
    return {
        "kind": "slope" if p == 1 else "linear",
        "X": X,
        "y": y,
        "test": test,
        "truth": test @ theta + noise,
        **bounds,
    }


def wine(seed):
    X, quality = load_wine_quality(return_X_y=True)
    y, (train, test) = (quality - 5.0) / 5.0, split(len(X), seed)
    bounds = {"x_bound": 2.0, "y_bound": 1.0, "x_edge": np.full(X.shape[1], 2.0), "intercept": True}
    return {"kind": "linear", "X": X[train], "y": y[train], "test": X[test], "truth": y[test], **bounds}


def simulated_bayes(seed):
    rng = np.random.default_rng([seed, 52])
    centres = 3 * np.eye(10)[:3]
    y = rng.choice(3, p=[0.75, 0.15, 0.10], size=5000)
    truth = np.repeat(np.arange(3), 2000)
    X, test = rng.normal(size=(5000, 10)) + centres[y], rng.normal(size=(6000, 10)) + centres[truth]
    return {"kind": "bayes", "X": X, "y": y, "test": test, "truth": truth, "x_bound": 8.0, "x_edge": np.full(10, 6.0)}


def credit(seed):
    X, y = load_credit_default(return_X_y=True)
    train, test = split(len(X), seed)
    edge = np.full(X.shape[1], 3.0)
    return {
        "kind": "bayes",
        "X": X[train],
        "y": y[train],
        "test": X[test],
        "truth": y[test],
        "x_bound": 4.0,
        "x_edge": edge,
    }


def simulated_odds(seed):
    rng = np.random.default_rng([seed, 53])
    X = rng.normal(size=(14_000, 5))
    y = (rng.uniform(size=14_000) < expit(X @ (1.0 / np.arange(1, 6)) - 1.0)).astype(int)
    return {"kind": "odds", "X": X[:10_000], "y": y[:10_000], "test": X[10_000:], "truth": y[10_000:], "x_bound": 4.0}


TASKS = {
    "least squares, p=5, n=8000 (test MSE)": lambda s: simulated_linear(s, 5),
    "one column, n=8000 (test MSE)": lambda s: simulated_linear(s, 1),
    "wine quality (test MSE, scaled)": wine,
    "classification, n=5000 (balanced error)": simulated_bayes,
    "credit default (balanced error)": credit,
    "log odds, p=5, n=10,000 (log loss)": simulated_odds,
    "log odds, credit default (log loss)": lambda s: credit(s) | {"kind": "odds"},
}


def ours(task, epsilon, seed):
    X, y, test = task["X"], task["y"], task["test"]
    common = {"epsilon": epsilon, "delta": DELTA, "x_bound": task["x_bound"], "random_state": seed}
    if task["kind"] == "odds":
        plain = LogisticRegression(C=1e8, max_iter=1000).fit(X, y)
        found = {"non-private": plain.predict_proba(test)[:, 1]}
        entrants = [e for e in OURS if e.task == "classification" and e.variant == "refined" and e.takes_ranges]
        models = {f"eptr {e.name}": e.make(**common | dict(e.needs), classes=[0, 1]) for e in entrants}
        models["eptr.rivals ObjectivePerturbation"] = ObjectivePerturbation(**common)
        return found | {name: model.fit(X, y).predict_proba(test)[:, 1] for name, model in models.items()}
    if task["kind"] == "bayes":
        models = {"eptr BayesClassifier": eptr.BayesClassifier(**common), "eptr.rivals DPNB (pure)": DPNB(**common)}
        found = {"non-private": plain_bayes(X, y)(test)}
    else:
        common["y_bound"] = task["y_bound"]
        models = {
            "eptr LinearRegression": eptr.LinearRegression(**common),
            "eptr.rivals FunctionalMechanism (pure)": FunctionalMechanism(**common),
        }
        wide, wide_test = (np.column_stack([Z, np.ones(len(Z))]) for Z in (X, test))
        found = {"non-private": wide_test @ np.linalg.lstsq(wide, y, rcond=None)[0]}
    return found | {name: model.fit(X, y).predict(test) for name, model in models.items()}


def error(task, predicted):
    if task["kind"] == "odds":
        return float(log_loss(task["truth"], np.clip(predicted, 1e-6, 1.0 - 1e-6)))
    if task["kind"] == "bayes":
        return balanced(np.asarray(predicted), task["truth"])
    return float(np.mean((np.asarray(predicted) - task["truth"]) ** 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python", help="interpreter of the peers' environment")
    parser.add_argument("--replications", type=int, default=20)
    options = parser.parse_args()
    _quiet()
    errors = {}
    with tempfile.TemporaryDirectory() as folder:
        tasks = {}
        for title, make in TASKS.items():
            for seed in range(options.replications):
                try:
                    task = make(seed)
                except DatasetError as problem:
                    print(f"left out: {title}: {problem}")
                    break
                for epsilon in EPSILONS:
                    name = f"{len(tasks):05d}"
                    tasks[name] = title, epsilon, task
                    np.savez(Path(folder) / f"{name}.npz", **task, epsilon=epsilon, seed=seed)
                    for method, predicted in ours(task, epsilon, seed).items():
                        errors.setdefault((title, method, epsilon), []).append(error(task, predicted))
        subprocess.run([options.python, str(Path(__file__).with_name("theirs.py")), folder], check=True)
        answer = json.loads((Path(folder) / "theirs.json").read_text())
    for name, predictions in answer["results"].items():
        title, epsilon, task = tasks[name]
        for method, predicted in predictions.items():
            errors.setdefault((title, method, epsilon), []).append(error(task, predicted))
    rows = []
    for title, method in dict.fromkeys((t, m) for t, m, _ in errors):
        values = [float(np.mean(errors[title, method, e])) for e in EPSILONS]
        rows.append([title, method, *values, values[1] / float(np.mean(errors[title, "non-private", 1.0]))])
    header = ["task", "method", *(f"epsilon={e:g}" for e in EPSILONS), "ratio at 1"]
    show(
        f"Our estimators at delta={DELTA:g}, the peers' at delta=0; same rows, same public bounds",
        header,
        sorted(rows, key=lambda row: row[0]),
        "peers",
    )
    show("Known defects, reproduced", ["where", "what", "seen", "reproduced"], answer["defects"], "peers_defects")
    if not all(d[-1] for d in answer["defects"]):
        raise SystemExit("a defect was not reproduced: the peers have changed, and docs/rivals.md must, too")


if __name__ == "__main__":
    main()
