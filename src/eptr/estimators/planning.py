"""What a fit will cost in accuracy, before any data are touched."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Plan"]


@dataclass(frozen=True, slots=True)
class Plan:
    """The public forecast of a fit. For the tests: mean squared error <= sampling + noise + refusal.

    Attributes
    ----------
    noise_scale : float
        Standard deviation of the noise on each released number: a coefficient (refined: root mean square, from a fit to
        simulated rows), a class mean (refined: an upper bound), or a kernel answer.
    noise_error : float
        Expected squared norm of the noise on the whole estimate.
    always_replies_from : float
        Safety statistic from which the test certainly replies (0 for "refined", which never refuses).
    threshold : float
        Safety statistic below which it practically never does.
    refusal : float
        The part of the error bound that remains on an unsafe dataset: the probability of a reply there.
    standard_errors : tuple of float or None
        Refined least squares: of every coefficient in its own units, the intercept last, from a fit to simulated rows;
        infinite where the rows will be too few to say.
    """

    strategy: str
    n: int
    n_features: int
    safety: str
    noise_scale: float
    noise_error: float
    threshold: float
    always_replies_from: float
    refusal: float
    standard_errors: tuple[float, ...] | None = None

    def __str__(self) -> str:
        lines = [f"{self.strategy}: n={self.n}, {self.n_features} features"]
        lines.append(f"  noise on each number      {self.noise_scale:.4g}")
        lines.append(f"  expected squared noise    {self.noise_error:.4g}")
        if self.always_replies_from > 0:
            lines.append(f"  {self.safety} must exceed  {self.threshold:.4g}")
            lines.append(f"  a reply is certain from   {self.always_replies_from:.4g}")
        else:
            lines.append("  never refuses")
        if self.standard_errors is not None:
            shown = ", ".join(
                "too few rows to say" if error == math.inf else f"{error:.3g}" for error in self.standard_errors
            )
            lines.append(f"  standard errors           {shown}")
        return "\n".join(lines)
