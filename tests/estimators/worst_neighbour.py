"""A search for the worst neighbour of a statistic: random starts, then coordinate moves; imports nothing from eptr."""

from __future__ import annotations

import numpy as np


def worst_change(change, start, limit, rng, starts=20, moves=400):
    """Largest ``change(z)`` found over real vectors z with |z_i| <= limit, by random starts and shrinking moves."""
    best_value = -np.inf
    for _ in range(starts):
        z = start(rng)
        value, step = change(z), 1.0
        for _ in range(moves):
            trial = np.clip(z + step * limit * rng.normal(size=z.size) * (rng.random(z.size) < 0.3), -limit, limit)
            moved = change(trial)
            if moved > value:
                z, value = trial, moved
            else:
                step = max(0.985 * step, 1e-4)
        best_value = max(best_value, value)
    return best_value
