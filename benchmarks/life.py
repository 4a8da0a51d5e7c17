"""Least squares on outcomes that look like life: distance from OLS, coverage and width, against the rivals; seeded.

`make bench-accuracy` and `make bench-coverage` run it. The unit is the robust (HC1) standard error that ordinary least
squares has on the same rows: well below 1 is lost in the sampling error, well above 1 is another answer. Every method sees
the same rows, bounds and seeds. Intervals are judged by the coefficient of the population, which is known: x is normal, and
E(y|x) a function of x'b.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import eptr
from eptr.demo import robust
from eptr.rivals import DPGD, AdaSSP, BoostedAdaSSP

from .accuracy import _quiet, our_forms, parallel
from .tables import show

DELTA = 1e-6
SLOPES = np.array([0.5, -0.3, 0.2])
AHEAD = 1.10  # a rival is ahead if the ratio exceeds this, sampling error aside
RIVALS = ("AdaSSP", "BoostedAdaSSP", "clipped descent")


def sigmoid(t):
    return 1.0 / (1.0 + np.exp(-t))


def correlation(p):
    """Neighbouring columns correlate by .3."""
    return 0.3 ** np.abs(np.subtract.outer(np.arange(p), np.arange(p)))


def line(eta):
    return 1.0 + eta


@dataclass(frozen=True)
class Setting:
    """E(y|x) = mean(x'slopes); ``draw(rng, eta, x)`` draws y. Bounds are what a careful user knows beforehand."""

    name: str
    draw: Callable
    mean: Callable
    y_bound: float
    # From much to little; in the last of them noise rules.
    cells: tuple = ((30_000, 1.0), (30_000, 4.0), (8000, 1.0), (2000, 4.0), (2000, 1.0), (2000, 0.5))
    slopes: np.ndarray = field(default_factory=lambda: SLOPES)
    square: float = 0.0  # of the first column, which the model leaves out
    ones: tuple = ()  # how many rows have each of the dummies that are the last columns
    levels: tuple = ()  # or they are the levels of a factor, with such shares, of which the first has no column
    ranges: tuple | None = None  # raw columns: location and scale in the population, and the public range

    @property
    def p(self):
        return len(self.slopes)

    @property
    def normal(self):
        """How many columns are."""
        return self.p - (len(self.ones) or max(len(self.levels) - 1, 0))

    def truth(self):
        """Slopes and intercept of the population: for normal x those of g(x'b) are b E(g(t) t)/var(t) and E(g(t))."""
        normal = self.normal
        b = self.slopes[:normal]
        variance = b @ correlation(normal) @ b
        nodes, weights = np.polynomial.hermite_e.hermegauss(200)
        values = self.mean(np.sqrt(variance) * nodes) * weights / weights.sum()
        slope = values @ nodes / np.sqrt(variance)
        slopes, intercept = np.append(slope * b, self.slopes[normal:]), values.sum() + self.square
        if self.ranges is not None:
            location, scale, _ = self.ranges
            slopes = slopes / scale
            intercept -= slopes @ location
        return np.append(slopes, intercept)

    def sample(self, n, seed):
        rng = np.random.default_rng([seed, n, *self.name.encode()])
        x = rng.normal(size=(n, self.p)) @ np.linalg.cholesky(correlation(self.p)).T
        for j, count in enumerate(self.ones, start=self.normal):
            x[:, j] = rng.permutation(n) < count
        if self.levels:
            level = rng.choice(len(self.levels), size=n, p=self.levels)
            x[:, self.normal :] = level[:, None] == np.arange(1, len(self.levels))
        y = self.draw(rng, x @ self.slopes, x)
        return (x if self.ranges is None else self.ranges[0] + self.ranges[1] * x), y

    @property
    def groups(self):
        """Coefficients that are reported together."""
        first = self.normal
        if self.levels:
            return {", numbers": [*range(first)], ", levels": [*range(first, self.p + 1)]}
        dummies = {f", dummy with {count} ones": [first + j] for j, count in enumerate(self.ones)}
        return {", common columns" if dummies else "": [*range(first), self.p], **dummies}

    def public_map(self):
        """Location, scale and bound with which a method without ranges gets the columns."""
        if self.ranges is None:
            return np.zeros(self.p), np.ones(self.p), 1.5 * np.sqrt(self.p)
        low, high = np.array(self.ranges[2]).T
        return (low + high) / 2, (high - low) / 2, np.sqrt(self.p)


def hurdle(eta):
    return sigmoid(eta - 2.6) * np.exp(0.5 + 0.5 * eta + 0.7**2 / 2)


def draw_hurdle(rng, eta, x):
    amount = np.exp(0.5 + 0.5 * eta + 0.7 * rng.normal(size=len(eta)))
    return amount * (rng.uniform(size=len(eta)) < sigmoid(eta - 2.6))


TOPPED = 0.06, 25.0  # such a share of what is not zero is coded as this


def draw_topped(rng, eta, x):
    top = TOPPED[1] * (rng.uniform(size=len(eta)) < sigmoid(eta - 2.6))
    return np.where(rng.uniform(size=len(eta)) < TOPPED[0], top, draw_hurdle(rng, eta, x))


def topped(eta):
    return (1.0 - TOPPED[0]) * hurdle(eta) + TOPPED[0] * TOPPED[1] * sigmoid(eta - 2.6)


def draw_normal(rng, eta, x):
    return line(eta) + rng.normal(size=len(eta))


def draw_skewed_growing(rng, eta, x):
    return line(eta) + np.exp(0.5 * x[:, 0]) * (rng.exponential(size=len(eta)) - 1.0)


def draw_exponential(rng, eta, x):
    return line(eta) + rng.exponential(size=len(eta)) - 1.0


def falling(p):
    """Slopes 1, 1/2, 1/3, ... of unit length."""
    slopes = 1.0 / np.arange(1, p + 1)
    return slopes / np.linalg.norm(slopes)


# Year of birth, years of schooling, height in cm: location, scale, and a range that every atlas gives.
RAW = (np.array([1975.0, 13.0, 171.0]), np.array([14.0, 2.5, 9.0]), ((1900.0, 2030.0), (0.0, 25.0), (100.0, 250.0)))
CLEAR = ((30_000, 1.0), (30_000, 4.0))
SETTINGS = [
    Setting("normal errors", draw_normal, line, 6.0),
    Setting("t3 errors", lambda rng, eta, x: line(eta) + rng.standard_t(3, len(eta)) / np.sqrt(3), line, 12.0),
    Setting(
        "binary, 10 % ones",
        lambda rng, eta, x: (rng.uniform(size=len(eta)) < sigmoid(eta - 2.35)).astype(float),
        lambda eta: sigmoid(eta - 2.35),
        1.0,
    ),
    Setting(
        "Poisson(.3)",
        lambda rng, eta, x: rng.poisson(0.3 * np.exp(eta)).astype(float),
        lambda eta: 0.3 * np.exp(eta),
        7.0,
    ),
    Setting(
        "lognormal",
        lambda rng, eta, x: np.exp(eta + 0.8 * rng.normal(size=len(eta))),
        lambda eta: np.exp(eta + 0.32),
        40.0,
    ),
    Setting("92 % zeros", draw_hurdle, hurdle, 25.0),
    Setting(
        "92 % zeros, top-coded", draw_topped, topped, 25.0, ((30_000, 1.0), (30_000, 4.0), (8000, 1.0), (2000, 4.0))
    ),
    Setting("exponential errors growing with x", draw_skewed_growing, line, 20.0),
    Setting(
        "normal errors growing with x",
        lambda rng, eta, x: line(eta) + np.exp(0.5 * x[:, 0]) * rng.normal(size=len(eta)),
        line,
        15.0,
    ),
    Setting(
        "a square left out",
        lambda rng, eta, x: draw_normal(rng, eta, x) + 0.5 * x[:, 0] ** 2,
        line,
        10.0,
        square=0.5,
    ),
    Setting("raw columns", draw_normal, line, 6.0, ranges=RAW),
    Setting(
        "rare dummies",
        draw_normal,
        line,
        8.0,
        CLEAR,
        slopes=np.append(falling(16), [0.5, -0.5, 0.5, -0.5]),
        ones=(20, 40, 80, 300),
        ranges=(np.zeros(20), np.ones(20), ((-5.0, 5.0),) * 16 + ((0.0, 1.0),) * 4),
    ),
    Setting(
        "far from the middle of a wide range",
        lambda rng, eta, x: 20.0 + eta + rng.gamma(2.0, 1.0, len(eta)),
        lambda eta: 22.0 + eta,
        200.0,
        CLEAR,
        slopes=np.append(SLOPES, 1.0),
        ones=(900,),
        ranges=(np.zeros(4), np.ones(4), ((-6.0, 6.0),) * 3 + ((0.0, 1.0),)),
    ),
    Setting(
        "a factor, 3 % at its first level",
        draw_exponential,
        line,
        12.0,
        (*CLEAR, (8000, 4.0)),
        slopes=np.append(SLOPES, [0.5, -0.5, 0.5, -0.5, 0.5]),
        levels=(0.03, 0.55, 0.2, 0.1, 0.08, 0.04),
        ranges=(np.zeros(8), np.ones(8), ((-5.0, 5.0),) * 3 + ((0.0, 1.0),) * 5),
    ),
    Setting(
        "a factor of twenty levels",
        draw_normal,
        line,
        9.0,
        (*CLEAR, (8000, 4.0)),
        slopes=np.append(SLOPES, 0.1 * np.arange(1, 20)),
        levels=(0.05,) * 20,
        ranges=(np.zeros(22), np.ones(22), ((-5.0, 5.0),) * 3 + ((0.0, 1.0),) * 19),
    ),
    Setting("few rows, p=12", draw_normal, line, 7.0, ((500, 1.0), (500, 4.0)), slopes=falling(12)),
]


def ours(setting, epsilon, seed, **more):
    """Our fit as a user would set it up: public ranges for raw columns where it takes them, else a bound on the norm."""
    if setting.ranges is not None:
        bounds = {"x_range": list(setting.ranges[2]), "y_range": (-setting.y_bound, setting.y_bound)}
    else:
        bounds = {"x_bound": 1.5 * np.sqrt(setting.p), "y_bound": setting.y_bound}
    return eptr.LinearRegression(epsilon, DELTA, **bounds, random_state=seed, **more)


def rival(name, setting, epsilon, seed, X, y):
    """Slopes and intercept of a rival; columns are mapped publicly, and the coefficients back."""
    location, scale, bound = setting.public_map()
    arguments = (epsilon, DELTA, bound, setting.y_bound)
    model = {
        "AdaSSP": lambda: AdaSSP(*arguments, random_state=seed),
        "BoostedAdaSSP": lambda: BoostedAdaSSP(*arguments, random_state=seed),
        # Clipped where residuals of a third of the bound, on columns of unit size, rarely are.
        "clipped descent": lambda: DPGD(
            *arguments,
            form="clipped",
            steps=14,
            step_size=0.65 * 2.25 * setting.p / bound**2,
            clip=0.5 * setting.y_bound * np.sqrt(setting.p + 1) * bound / (1.5 * np.sqrt(setting.p)),
            random_state=seed,
        ),
    }[name]()
    model.fit((X - location) / scale, y)
    slopes = model.coef_ / scale
    return np.append(slopes, model.intercept_ - slopes @ location)


def one_run(place, n, epsilon, seed, rivals=RIVALS):
    """For OLS and every method, in standard errors: estimate - OLS, and both ends of its intervals (if any) - truth."""
    _quiet()
    setting = SETTINGS[place]
    X, y = setting.sample(n, seed)
    beta, errors = robust(X, y)
    truth, nothing = setting.truth(), np.full((2, setting.p + 1), np.nan)
    found = {"OLS": [np.zeros(setting.p + 1), *((beta + s * errors - truth) / errors for s in (-1.96, 1.96))]}
    for name, more in our_forms().items():
        fit = ours(setting, epsilon, seed, **more).fit(X, y)
        intervals = (fit.conf_int().T - truth) / errors
        found[name] = [(np.append(fit.coef_, fit.intercept_) - beta) / errors, *intervals]
    for name in rivals:
        found[name] = [(rival(name, setting, epsilon, seed, X, y) - beta) / errors, *nothing]
    return {name: np.array(rows) for name, rows in found.items()}, float(np.mean(np.abs(y) > setting.y_bound))


def cells(only=None):
    return [
        (place, n, epsilon)
        for place, setting in enumerate(SETTINGS)
        if not only or any(part in setting.name for part in only)
        for n, epsilon in setting.cells
    ]


def runs_of(cell, count, rivals, kept=None):
    """Arrays (run, what, coefficient) by method, and the share of |y| beyond the bound; ``kept``: a folder to resume from."""
    path = kept and Path(kept) / f"{SETTINGS[cell[0]].name}-{cell[1]}-{cell[2]:g}-{len(rivals)}-{count}.npz".replace(
        " ", "_"
    )
    if path and path.exists():
        with np.load(path) as stored:
            arrays = dict(stored)
        return arrays, float(arrays.pop("beyond"))
    label = f"{SETTINGS[cell[0]].name}, n={cell[1]}, epsilon={cell[2]:g}"
    runs = parallel(one_run, [(*cell, seed, rivals) for seed in range(count)], label)
    arrays = {name: np.array([run[name] for run, _ in runs]) for name in runs[0][0]}
    beyond = float(np.mean([share for _, share in runs]))
    if path:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, beyond=beyond, **arrays)
    return arrays, beyond


def ratio(mine, theirs, resamples=1000):
    """rms mine / rms theirs from paired runs of squared distances, and its 95 % bootstrap interval over runs."""
    rng = np.random.default_rng(0)
    weights = rng.multinomial(len(mine), np.full(len(mine), 1 / len(mine)), size=resamples)
    drawn = np.sqrt((weights @ mine) / (weights @ theirs))
    return [float(np.sqrt(mine.sum() / theirs.sum())), *map(float, np.quantile(drawn, [0.025, 0.975]))]


def accuracy(count, only, kept):
    names, rows = [*our_forms(), *RIVALS], []
    for cell in cells(only):
        setting, (arrays, beyond) = SETTINGS[cell[0]], runs_of(cell, count, RIVALS, kept)
        for group, columns in setting.groups.items():
            squares = {m: np.mean(arrays[m][:, 0, columns] ** 2, axis=1) for m in names}
            against = {m: ratio(squares["default"], squares[m]) for m in names[1:]}
            ahead = [m for m in RIVALS if against[m][1] > AHEAD]
            rows.append(
                [
                    setting.name + group,
                    cell[1],
                    setting.p,
                    cell[2],
                    *(float(np.sqrt(np.mean(squares[m]))) for m in names),
                    *itertools.chain.from_iterable(against.values()),
                    ", ".join(ahead) or "none",
                    beyond,
                ]
            )
    header = ["outcome", "n", "p", "epsilon", *names]
    header += itertools.chain.from_iterable([f"/ {m}", f"/ {m} from", f"/ {m} to"] for m in names[1:])
    title = f"rms distance from OLS in its robust s.e., delta={DELTA:g}, {count} paired runs; default / method, 95 % interval"
    show(title, [*header, "ahead of default", "|y| > bound"], rows, None if only else "life_accuracy")


def coverage(count, only, kept):
    rows = []
    for cell in cells(only):
        setting, (arrays, _) = SETTINGS[cell[0]], runs_of(cell, count, (), kept)
        clarity = float(np.sqrt(cell[1] / (setting.p + 1)) * eptr.gaussian_mu(cell[2], DELTA))
        for (group, columns), name in itertools.product(setting.groups.items(), our_forms()):
            held, width, told = covered(arrays[name][:, :, columns])
            plain, _, _ = covered(arrays["OLS"][:, :, columns])
            rows.append(
                [
                    setting.name + group,
                    cell[1],
                    setting.p,
                    cell[2],
                    name,
                    clarity,
                    *(float(f(part)) for part in (held, plain) for f in (np.mean, np.min)),
                    told,
                    float(np.mean(width)),
                    float(np.max(width)),
                    note(held, plain, clarity),
                ]
            )
    header = ["outcome", "n", "p", "epsilon", "method", "sqrt(n/p) mu", "coverage", "worst", "OLS", "OLS worst", "told"]
    header += ["width / OLS", "widest", "note"]
    title = f"95 % intervals for the population's coefficient, delta={DELTA:g}, {count} runs"
    show(title, header, rows, None if only else "life_coverage")


def covered(runs):
    """By coefficient: the share of intervals that hold the truth, and the median width over that of robust OLS.

    An interval that is not finite says nothing, and holds everything; the last number is the share of those that say something.
    """
    _, low, high = np.moveaxis(runs, 1, 0)
    told = np.isfinite(low) & np.isfinite(high)
    width = np.where(told, high - low, np.inf) / (2 * 1.96)
    return np.mean(~told | (low <= 0.0) & (high >= 0.0), axis=0), np.median(width, axis=0), float(told.mean())


def note(held, plain, clarity):
    """Where the share is outside 93-98 % (worst 91 %), or two points from OLS where OLS is; few rows may be above."""
    mean, worst = held.mean(), held.min()
    if mean < min(0.93, plain.mean() - 0.02) or worst < min(0.91, plain.min() - 0.02):
        return "too narrow"
    return "too wide" if mean > max(0.98, plain.mean() + 0.02) and clarity >= 20.0 else ""


TABLES = {"accuracy": (accuracy, 200), "coverage": (coverage, 500)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("--replications", type=int)
    parser.add_argument("--quick", action="store_true", help="20 replications")
    parser.add_argument("--only", action="append", help="part of a setting's name; prints without saving")
    parser.add_argument("--keep", help="a folder for finished cells: the same command resumes from it")
    arguments = parser.parse_args()
    table, count = TABLES[arguments.table]
    table(arguments.replications or (20 if arguments.quick else count), arguments.only, arguments.keep)


if __name__ == "__main__":
    main()
