"""The Bayes classifier with class means and priors released privately: refined (default), tight and paper."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from ..accounting.budget import Budget
from ..adapter import ladder_rung
from ..errors import InputError, positive
from ..privacy.mechanism import Proposal, Release, forecast_test, release, release_at_rung
from ..privacy.noise import NoiseSource
from ..rows.memory import MemoryRows, Rows
from .base import RADIUS_LEVEL, RADIUS_RANGE, RADIUS_SEARCH, RADIUS_SHARE, NoisyScore, PrivateEstimator, whole_number
from .bayes_bounds import ClassRule, class_sums, paper_rule, tight_rule
from .planning import Plan
from .quantile import private_quantile

__all__ = ["BayesClassifier"]

Array = NDArray[np.float64]

# Chosen by benchmarks/choose_defaults.py on simulated data only. Shares are of mu^2.
CENTRE_SHARE = 0.20
SPREAD_SHARE = 0.06
SPREAD_LEVEL = 0.70  # quantile of |x - c_y| at which the second pass clips ...
SPREAD_RATE = 6.0  # ... or 1 - SPREAD_RATE/(sqrt(n) mu), whichever is larger: little noise needs little clipping
ONCE = 0.1  # one pass is enough if its noise is this small against the sampling error of a mean of unit variance
# No class is given less than this share of the rows when dividing by its noisy count.
COUNT_FLOOR = 0.005


class BayesClassifier(NoisyScore, ClassifierMixin, PrivateEstimator):
    """Gaussian classes with identity covariance; private class means and priors (replace-one neighbours, n public).

    Parameters
    ----------
    epsilon, delta : float
        The guarantee of the whole fit.
    x_bound : float or "private"
        Public bound on the Euclidean norm of a row; longer rows are shortened to it.
        "private" buys one from the budget ("refined" only).
    classes : "public" or sequence
        The label set. "public" declares the labels that occur in y to be public knowledge.
    c0 : float, default 0.05
        "tight" and "paper" only: the fit is proposed if every class has more than c0 n rows.
    strategy : {"refined", "tight", "paper"}
    rows_per_person, fallback, invalid, ledger, random_state
        As in :class:`eptr.LinearRegression`. ``fallback="paper"`` draws the published no-reply answer, a random
        prior and random means; None is a uniform prior with all means zero.

    Attributes
    ----------
    classes_, means_, priors_ : the label set and the released parameters
    release_, released_, noise_ : the Release, whether there was a reply, the noise on each released mean

    Examples
    --------
    >>> import numpy as np, eptr
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, size=4000)
    >>> X = rng.normal(size=(4000, 2)) + 3 * y[:, None]
    >>> clf = eptr.BayesClassifier(epsilon=1.0, delta=1e-6, x_bound=8.0).fit(X, y)
    >>> bool(clf.score(X, y) > 0.95)
    True
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        x_bound: Any = None,
        classes: Any = "public",
        c0: float = 0.05,
        strategy: str = "refined",
        *,
        rows_per_person: int = 1,
        fallback: Any = None,
        invalid: str = "raise",
        ledger: Any = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.x_bound = x_bound
        self.classes = classes
        self.c0 = c0
        self.strategy = strategy
        self.rows_per_person = rows_per_person
        self.fallback = fallback
        self.invalid = invalid
        self.ledger = ledger
        self.random_state = random_state

    def fit(self, X: Any, y: Any, **unsupported: Any) -> BayesClassifier:
        """Fit privately. ``y`` holds labels, or names the label column when ``X`` is a table."""
        budget = self._settings(**unsupported)
        rows = self._classified_rows(X, y)
        bound = self._bound(
            "x_bound", "Pass a bound on the norm of a row, such as x_bound=8 for columns of about unit size."
        )
        positive("c0", self.c0, below=1.0)
        if self.fallback is not None and self.fallback != "paper":
            raise InputError("fallback must be None (uniform prior, zero means) or 'paper'.")
        if self.strategy == "refined":
            noise = self._begin(self._gaussian_cost(budget))
            result = self._fit_refined(rows, budget, bound, noise)
        else:
            noise = self._begin(None)
            assert isinstance(bound, float)
            self.x_bound_ = bound
            result = self._fit_tested(rows, budget)
        if not result.replied:
            self.means_, self.priors_ = self._fallback_parameters(rows.n_features, noise)
        self._finish(result)
        return self

    def _classified_rows(self, X: Any, y: Any) -> Rows:
        self._forget()
        X, y = self._table(X, y)
        if self.invalid == "drop" and y is not None:
            X, y = self._validated(X), np.asarray(y)
            if y.shape != (X.shape[0],):
                raise InputError(f"y must be one label per row, shape ({X.shape[0]},), got shape {y.shape}.")
        else:
            X, y = self._validated(X, y)
            if isinstance(self.classes, str) and y.dtype.kind == "f":  # what labels look like is public only then
                check_classification_targets(y)
        codes = self._codes(np.asarray(y))
        rows = MemoryRows(X, codes, drop_invalid=self.invalid == "drop")
        rows.check()
        return rows

    def _codes(self, y: NDArray[Any]) -> NDArray[np.int64]:
        """Labels as positions in the sorted label set; -1 for a label that was not declared (only under "drop")."""
        if y.dtype == object:
            missing = np.array([v is None or v != v for v in y])
        else:
            missing = np.isnan(y) if y.dtype.kind == "f" else np.zeros(0, dtype=bool)
        if isinstance(self.classes, str) and self.classes == "public":
            self.classes_ = _sorted_labels(y[~missing] if missing.size else y)
        elif isinstance(self.classes, str) or not hasattr(self.classes, "__iter__"):
            raise InputError(f"classes must be 'public' or a sequence of labels, got {self.classes!r}.")
        else:
            self.classes_ = _sorted_labels(np.asarray(list(self.classes)))
        if len(self.classes_) < 2:
            raise InputError("classes must hold at least two labels; with one class there is nothing to tell apart.")
        if y.dtype == object:
            position = {label: k for k, label in enumerate(self.classes_.tolist())}
            codes = np.array([position.get(v, -1) for v in y.tolist()], dtype=np.int64)
        elif y.dtype.kind in "iu" and np.array_equal(self.classes_, np.arange(len(self.classes_))):
            # Already codes, the usual case; a label outside the set becomes -1.
            codes = y.astype(np.int64, copy=False)
            if codes.min() < 0 or codes.max() >= len(self.classes_):
                codes = np.where((codes >= 0) & (codes < len(self.classes_)), codes, -1)
        else:
            found = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
            codes = np.where(self.classes_[found] == y, found, -1)
        if missing.size:
            codes[missing] = -1
        if self.invalid == "raise" and np.any(codes < 0):
            raise InputError("y holds a label that is not in classes; declare it there, or pass invalid='drop'.")
        return codes

    def _fit_refined(self, rows: Rows, budget: Budget, bound: float | str, noise: NoiseSource) -> Release:
        mu, group, classes = budget.mu, self.rows_per_person, len(self.classes_)
        if bound == "private":
            norms = lambda x, y: np.sqrt(np.einsum("ij,ij->i", x, x))  # noqa: E731
            bound = private_quantile(
                rows, norms, RADIUS_LEVEL, low=RADIUS_RANGE[0], high=RADIUS_RANGE[1],
                mu=mu * math.sqrt(RADIUS_SHARE) * (1.0 - 1e-15), noise=noise, group=group, **RADIUS_SEARCH,
            )  # fmt: skip
            mu *= math.sqrt(1.0 - RADIUS_SHARE) * (1.0 - 1e-15)
        self.x_bound_ = float(bound)

        def part(share: float) -> float:
            return mu * math.sqrt(share) * (1.0 - 1e-15)

        # Clear data need no second look: the noise of the first is below a tenth of the sampling error already.
        once = 2.0 * self.x_bound_ * group * math.sqrt(classes) < ONCE * math.sqrt(rows.n) * mu
        first_mu, last_mu = part(1.0 if once else CENTRE_SHARE), part(1.0 - CENTRE_SHARE - SPREAD_SHARE)
        first = class_sums(rows, classes, self.x_bound_)
        counts = noise.gaussian(first.counts, 2.0 * group / first_mu)
        floor = COUNT_FLOOR * rows.n
        rough = noise.gaussian(first.sums, 2.0 * self.x_bound_ * group / first_mu) / np.maximum(counts, floor)[:, None]
        centres = _into_ball(rough, self.x_bound_)
        if once:
            self.means_, self.priors_ = centres, np.maximum(counts, floor) / np.maximum(counts, floor).sum()
            scale = 2.0 * self.x_bound_ * group / first_mu
            value = np.column_stack([self.means_, self.priors_])
            return self._gaussian_release(budget, noise, value, scale / rows.n * classes)
        # Rows of a class sit around its centre: a private radius instead of the whole ball.
        level = 1.0 - min(1.0 - SPREAD_LEVEL, SPREAD_RATE / (math.sqrt(rows.n) * mu))
        radius = private_quantile(
            rows, lambda x, y: _distance(x, centres.take(np.asarray(y, dtype=np.intp), axis=0)), level,
            low=self.x_bound_ * 2.0**-16, high=2.0 * self.x_bound_, mu=part(SPREAD_SHARE), noise=noise, group=group,
        )  # fmt: skip
        second = class_sums(rows, classes, radius, centres)
        again = noise.gaussian(second.counts, 2.0 * group / last_mu)
        # The same counts were released twice: weight by precision.
        weight = first_mu**2 / (first_mu**2 + last_mu**2)
        counts = np.maximum(weight * counts + (1.0 - weight) * again, floor)
        scale = 2.0 * radius * group / last_mu
        self.means_ = centres + noise.gaussian(second.sums, scale) / counts[:, None]
        self.priors_ = counts / counts.sum()
        return self._gaussian_release(
            budget, noise, np.column_stack([self.means_, self.priors_]), scale / rows.n * classes
        )

    def _fit_tested(self, rows: Rows, budget: Budget) -> Release:
        classes, p = len(self.classes_), rows.n_features
        rule = self._rule(rows.n, classes, self.x_bound_)
        sums = class_sums(rows, classes, self.x_bound_)
        beta = float(sums.counts.min())
        options = {"ledger": self._account(), "random_state": self.random_state}

        def estimate() -> Array:
            means = sums.sums / np.maximum(sums.counts, 1.0)[:, None]
            return np.append(means.ravel(), rule.prior_weight * sums.counts / rows.n)

        if self.strategy == "tight":
            rung = ladder_rung(beta, rule.threshold, rule.lipschitz)
            result = release_at_rung(estimate, rung, rule.sensitivity, budget.epsilon, budget.delta, **options)
        else:
            gamma = max(beta - rule.threshold - rule.lipschitz, 0.0) / rule.lipschitz
            result = release(
                Proposal(estimate(), rule.sensitivity, gamma), budget.epsilon, budget.delta, "paper", **options
            )
        if not result.replied:
            return result
        means = result.value[: classes * p].reshape(classes, p)
        self.means_ = _into_ball(means, self.x_bound_)
        priors = np.maximum(result.value[classes * p :] / rule.prior_weight, min(self.c0, 1.0 / classes))
        self.priors_ = priors / priors.sum()
        value = np.column_stack([self.means_, self.priors_])
        return Release(
            True, value, result.noise_scale, result.epsilon, result.delta, result.private, result.strategy, result.cost
        )

    def _rule(self, n: int, classes: int, bound: float) -> ClassRule:
        if self.strategy == "paper":
            return paper_rule(n, bound, self.c0, self.rows_per_person)
        return tight_rule(n, classes, bound, self.c0, self.rows_per_person)

    def _fallback_parameters(self, features: int, noise: NoiseSource) -> tuple[Array, Array]:
        classes = len(self.classes_)
        if self.fallback is None:
            return np.zeros((classes, features)), np.full(classes, 1.0 / classes)
        draws = noise.gaussian(np.zeros((classes, features + 2)), 1.0)
        means = _into_ball(self.x_bound_ * draws[:, :features], self.x_bound_)
        # Squared pairs of normals are exponential; normalised exponentials are Dirichlet(1).
        weights = (draws[:, features:] ** 2).sum(axis=1)
        priors = np.maximum(weights / weights.sum(), self.c0)
        return means, priors / priors.sum()

    def plan(self, n: int, n_features: int, n_classes: int = 2) -> Plan:
        """Noise, threshold and error terms of a fit with these settings; needs no data."""
        budget, n, n_features = self._settings(), whole_number("n", n), whole_number("n_features", n_features)
        bound = self._bound("x_bound", "plan() needs it as a number.")
        if isinstance(bound, str):
            raise InputError("plan() needs x_bound as a number.")
        numbers = n_classes * n_features
        if self.strategy == "refined":
            # Classes of equal size, rows clipped at the worst radius: the true noise is smaller.
            scale = 2.0 * bound / (budget.mu * math.sqrt(1.0 - CENTRE_SHARE - SPREAD_SHARE)) * n_classes / n
            return Plan("refined", n, n_features, "", scale, numbers * scale**2, 0.0, 0.0, 0.0)
        rule = self._rule(n, n_classes, bound)
        forecast = forecast_test(self.strategy, budget.epsilon, budget.delta)
        scale = rule.sensitivity * forecast.noise
        certain = rule.threshold + (1.0 + forecast.certain) * rule.lipschitz
        error = numbers * scale**2
        return Plan(self.strategy, n, n_features, "smallest class", scale, error, rule.threshold, certain, budget.delta)

    def decision_function(self, X: Any) -> Array:
        """log prior - |x - m|^2/2 for every class (for two classes: the difference)."""
        scores = self._scores(self._predict_rows(X))
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _scores(self, X: Array) -> Array:
        return np.asarray(X @ self.means_.T + np.log(self.priors_) - 0.5 * (self.means_**2).sum(axis=1))

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest posterior probability; costs nothing more."""
        best = np.argmax(self._scores(self._predict_rows(X)), axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> Array:
        """Posterior probabilities under the released parameters."""
        scores = self._scores(self._predict_rows(X))
        return np.asarray(np.exp(scores - logsumexp(scores, axis=1, keepdims=True)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy. **Not private** when (X, y) are private rows: publish it only for public test data."""
        return float(super().score(X, y, sample_weight))


def _into_ball(means: Array, radius: float) -> Array:
    norms = np.linalg.norm(means, axis=1, keepdims=True)
    return np.asarray(means * np.minimum(1.0, radius / np.maximum(norms, 1e-300)))


def _distance(x: Array, centres: Array) -> Array:
    """Row by row; ``centres`` is a scratch array with one row each."""
    away = np.subtract(x, centres, out=centres)
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", away, away)))


def _sorted_labels(labels: NDArray[Any]) -> NDArray[Any]:
    try:
        return np.unique(labels)
    except TypeError:
        pass
    raise InputError("classes must be labels of one kind: all numbers or all strings.")
