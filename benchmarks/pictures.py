"""The pictures of the README and the docs, drawn from results/ and from the library; some seconds.

    python -m benchmarks.pictures

Each carries the digest of what it shows, so that a test sees when it is older than the numbers.
"""

from __future__ import annotations

import csv
import hashlib
import json

import numpy as np

import eptr
from eptr.demo import METHODS, draw
from eptr.privacy.mechanism import forecast_test
from eptr.privacy.profile import LogisticTest

from .tables import RESULTS, ROOT

IMAGES = ROOT / "docs" / "images"


def digest(shown):
    """Of numbers to nine digits: the last bits of an exponential are another processor's."""

    def rounded(value):
        if isinstance(value, dict):
            return {key: rounded(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [rounded(each) for each in value]
        return f"{value:.9g}" if isinstance(value, float) else value

    return hashlib.sha256(json.dumps(rounded(shown), sort_keys=True).encode()).hexdigest()


def life():
    """Distances at n = 30,000 and epsilon = 1 by outcome."""
    with (RESULTS / "life_accuracy.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if (row["n"], row["epsilon"]) == ("30000", "1")]
    return {row["outcome"]: {name: float(row[name]) for name in METHODS} for row in rows}


def clipping(n=200_000):
    """Mean of skewed values cut at c, without and with the pieces beyond c bought separately; sqrt of squared error."""
    rng = np.random.default_rng(0)
    values = np.exp(0.8 * rng.normal(size=n))
    cuts = np.geomspace(1, 40, 60)
    rows, mu = 5000, eptr.gaussian_mu(1.0, 1e-6)
    bias = [float(np.mean(values) - np.mean(np.minimum(values, c))) for c in cuts]
    noise = [float(c / (rows * mu)) for c in cuts]
    return {"cut": cuts.tolist(), "bias": bias, "noise": noise, "sampling": float(values.std() / np.sqrt(rows))}


def ladder(epsilon=1.0, delta=1e-6):
    """How likely a reply is, by the number of rows that lie between a dataset and trouble; and each test's noise."""
    steps = eptr.ladder(epsilon, delta)
    rows = np.arange(int(LogisticTest(epsilon, delta).midpoint) + 20)
    tight = np.append(steps, np.ones(len(rows)))[: len(rows)]
    noise = {name: forecast_test(name, epsilon, delta).noise for name in ("tight", "paper")}
    return {
        "noise": noise,
        "rows": rows.tolist(),
        "tight": tight.tolist(),
        "paper": LogisticTest(epsilon, delta)(rows).tolist(),
    }


def draw_clipping(shown, path, **save):
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7, 3.4), layout="constrained")
    cut, bias, noise = (np.array(shown[k]) for k in ("cut", "bias", "noise"))
    axis.plot(cut, bias, color="#D55E00", label="bias from clipping")
    axis.plot(cut, noise, color="#0072B2", label="noise for this clipping point")
    axis.plot(cut, np.hypot(bias, noise), color="black", ls="--", label="both")
    axis.axhline(shown["sampling"], color="0.6", lw=1)
    axis.annotate("sampling error", (cut[0], shown["sampling"] * 1.15), color="0.4")
    axis.set(
        xscale="log",
        yscale="log",
        xlabel="values above this are clipped to it",
        ylabel="error of the mean",
        ylim=(1e-4, 1),
    )
    axis.legend(frameon=False, loc="upper right")
    axis.set_xticks([1, 2, 5, 10, 20, 40], ["1", "2", "5", "10", "20", "40"])
    axis.minorticks_off()
    axis.grid(alpha=0.3)
    axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130, **save)
    plt.close(figure)


def draw_ladder(shown, path, **save):
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(7, 3.2), layout="constrained")
    for name, colour, label in (("tight", "#0072B2", "tight"), ("paper", "#D55E00", "as published")):
        axis.step(
            shown["rows"],
            shown[name],
            where="mid",
            color=colour,
            label=f"{label}: noise {shown['noise'][name]:.2g} times the sensitivity",
        )
    axis.set(yscale="log", ylim=(3e-8, 3), xlabel="number of rows that must change before the data are unsafe")
    axis.set(ylabel="probability of a reply")
    axis.axhline(1e-6, color="0.6", lw=1)
    axis.annotate("delta", (shown["rows"][-1], 1.3e-6), ha="right", color="0.4")
    axis.grid(alpha=0.3)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False)
    figure.savefig(path, dpi=130, **save)
    plt.close(figure)


PICTURES = {"life": (life, draw), "clipping": (clipping, draw_clipping), "ladder": (ladder, draw_ladder)}


def main():
    for name, (shown, drawn) in PICTURES.items():
        data = shown()
        drawn(data, str(IMAGES / f"{name}.png"), metadata={"Description": digest(data), "Software": None})
        print(IMAGES / f"{name}.png")


if __name__ == "__main__":
    main()
