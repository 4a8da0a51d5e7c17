"""Standard errors that count both the sample and the privacy noise.  Proof: inference.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from ...errors import probability
from ...privacy.claim import Release
from .problem import RegressionFitted

__all__ = ["RefinedFit", "Summary", "standard_errors", "summarise"]

Array = NDArray[np.float64]
DOUBT = 1.5  # standard deviations of Gram noise by which a direction's strength may be overstated
SIGNAL = 0.2  # a direction with less certain signal than this counts as noise
# Printed with every table: nothing released tells whether it applies.
CAUTION = (
    "Trust this for roughly symmetric errors only. Skewed, mostly zero, binary or count outcomes, errors that grow with x,\n"
    "rare dummies or a model that leaves something out: it need not be least squares, nor the errors right (docs/inference.md)."
)


@dataclass(frozen=True, slots=True)
class RefinedFit:
    """Public results: the coefficients, and what inference needs to know about their uncertainty."""

    coefficients: Array
    gram: Array
    whitening: Array
    noise: tuple[float, ...]  # standard deviation per whitened coordinate, step by step (a warm start counts as one)
    spread: float  # noisy E|clipped gradient|^2 / p
    slope: float  # noisy mean derivative of a step
    shrink: Array  # eigenvalue over floored eigenvalue of each direction
    floored: Array  # the eigenvalues in use
    gram_noise: float
    mean_square: float  # of y


def standard_errors(fit: RefinedFit, n: int) -> Array:
    """Covariance matrix of the released coefficients; uses released numbers only.   # proof: recursion

    In whitened coordinates error_t = (I - D) error_{t-1} + S + noise_t with error_0 = -phi.
    """
    rest = 1.0 - fit.slope * fit.shrink  # I - D, direction by direction
    steps = len(fit.noise)
    gain = (1.0 - rest**steps) / (1.0 - rest)
    variance = gain**2 * fit.spread / n
    for age, scale in enumerate(reversed(fit.noise)):
        variance = variance + rest ** (2 * age) * scale**2
    vectors = np.linalg.eigh(fit.gram)[1]
    phi = vectors.T @ np.linalg.solve(fit.whitening, fit.coefficients)
    # What the steps have not reached yet is a bias; D itself is known up to the noise of the Gram matrix. proof: bias
    doubt = DOUBT * fit.gram_noise / fit.floored
    worst = np.clip(
        np.maximum(np.abs(1.0 - fit.slope * (fit.shrink - doubt)), np.abs(1.0 - fit.slope * (fit.shrink + doubt))),
        0,
        0.98,
    )
    left = worst**steps
    signal = np.maximum(fit.shrink - doubt, 1e-12)
    bias = np.where(dominated(fit), left * np.sqrt(fit.mean_square / signal), left / (1.0 - left) * np.abs(phi))
    variance = variance + bias**2
    root = fit.whitening @ vectors
    return np.asarray((root * variance) @ root.T)


def dominated(fit: RefinedFit) -> NDArray[np.bool_]:
    """Directions of the design in which the Gram matrix is mostly privacy noise."""
    return np.asarray(fit.shrink - DOUBT * fit.gram_noise / fit.floored < SIGNAL)


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """A coefficient table; print it."""

    names: tuple[str, ...]
    estimates: Array
    errors: Array
    intervals: Array
    p_values: Array
    level: float
    residual_scale: float
    n: int
    release: Release
    noisy_directions: int = 0

    def __str__(self) -> str:
        width = max(11, *(len(name) for name in self.names))
        tails = (1 - self.level) / 2
        heads = ("Estimate", "Std. Error", "z value", "Pr(>|z|)", f"{tails:.1%}", f"{1 - tails:.1%}")
        lines = ["Private least squares", "", "Coefficients:", " " * width + "".join(f"{h:>12}" for h in heads)]
        for name, b, s, p, (low, high) in zip(
            self.names, self.estimates, self.errors, self.p_values, self.intervals, strict=True
        ):
            stars = "***" if p < 0.001 else "**" if p < 0.01 else "*" if p < 0.05 else "." if p < 0.1 else ""
            tail = "<2e-16" if p < 2e-16 else f"{p:.3g}"
            lines.append(
                f"{name:<{width}}{b:>12.5g}{s:>12.4g}{b / s:>12.3f}{tail:>12}{low:>12.5g}{high:>12.5g} {stars}"
            )
        lines += [
            "---",
            "Signif. codes:  0 '***' 0.001 '**' 0.01 '*' 0.05 '.' 0.1 ' ' 1",
            "",
            f"Residual standard error about {self.residual_scale:.4g} on {self.n} rows.",
            "Standard errors include sampling and privacy noise. "
            f"({self.release.epsilon:g}, {self.release.delta:g})-differentially private, {self.release.neighbours} neighbours"
            + ("." if self.release.private else "; SEEDED, NOT PRIVATE."),
        ]
        lines.append(CAUTION)
        if self.noisy_directions:
            lines.append(
                f"WARNING: {self.noisy_directions} of {len(self.names)} directions of the design are mostly privacy noise, and "
                "the intervals reflect it: more rows, a larger epsilon, a smaller x_bound, centred or fewer columns would help."
            )
        return "\n".join(lines)

    __repr__ = __str__


def summarise(names: list[Any], values: Array, fitted: RegressionFitted, level: float, release: Release) -> Summary:
    """Wald table from released numbers."""
    level = probability("level", level)
    errors = np.sqrt(np.diag(fitted.covariance))
    half = norm.isf((1.0 - level) / 2.0) * errors
    intervals = np.column_stack([values - half, values + half])
    p_values = 2.0 * norm.sf(np.abs(values) / errors)
    return Summary(
        tuple(map(str, names)), values, errors, intervals, p_values, level, fitted.residual_scale,
        fitted.n_rows, release, fitted.noisy_directions,
    )  # fmt: skip
