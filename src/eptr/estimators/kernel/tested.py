"""Kernel regression at declared points, each by propose, test, release.  Proof: tested.md."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

import numpy as np
from scipy.special import ndtr

from ...accounting.budget import Budget
from ...privacy.claim import Cost
from ...privacy.spending import Spending
from ...rows.engine import Rows
from ..strategy import Tested
from .bounds import QueryRule, paper_rule, query_sums, tight_rule
from .features import KERNELS
from .problem import KernelFitted, Smoothing

__all__ = ["Paper", "Tight"]


class _Queries(Tested):
    safety = "kernel degree"
    kernels: ClassVar[tuple[str, ...]] = tuple(KERNELS)

    def cost(self, public: Smoothing) -> Cost:
        """Identical tests, one for each query. proof: queries"""
        count = len(public.queries)
        spent = public.budget if public.split else Budget.total([public.budget] * count)
        return replace(super().cost(public), epsilon=spent.epsilon, delta=spent.delta, parts=count)

    def fit(self, rows: Rows, public: Smoothing, spending: Spending) -> KernelFitted:
        """One pass, and a test for each query."""
        rule, design, each, count = self.rule(public), public.design, public.each, len(public.queries)
        replies = [
            spending.test(rule.propose(float(degree), float(total)), self.name, each.epsilon, each.delta)
            for degree, total in zip(*rows.sum(query_sums(design, public.queries, rows.n)), strict=True)
        ]
        replied = np.array([r.replied for r in replies])
        # Without a reply: the middle of the range or, as published, a random point of it.
        silent = (
            np.zeros(count) if public.fallback is None else design.y_radius * (2.0 * ndtr(spending.idle(count)) - 1.0)
        )
        values = np.array([r.value if r.replied else s for r, s in zip(replies, silent, strict=True)], dtype=float)
        values = design.y_centre + np.clip(values, -design.y_radius, design.y_radius)
        released = values.copy() if replied.any() else None
        return KernelFitted.of(public, value=released, noise=replies[0].noise_scale, replied=replied, values=values)


class Tight(_Queries):
    """Sharp constants and the largest possible test."""

    name = "tight"

    def rule(self, public: Smoothing) -> QueryRule:
        return tight_rule(public.design, public.n, public.c0, public.unit.rows)


class Paper(_Queries):
    """Published constants and test."""

    name = "paper"

    def rule(self, public: Smoothing) -> QueryRule:
        return paper_rule(public.design, public.n, public.c0, public.unit.rows)
