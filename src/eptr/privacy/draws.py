"""Exact draws, made of random bits: orders, whole numbers, exponential weights, rounded reals.  Proof: draws.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from .noise import NoiseSource

__all__ = [
    "FIRST_BITS",
    "below",
    "certain_choice",
    "exponential",
    "exponential_choice",
    "exponentials",
    "permutation",
    "rounded_uniform",
]

# Precision of a first try. Any number gives the same distribution: with too few bits a decision is only made later.
FIRST_BITS = 128


def exponential(x: Fraction, bits: int) -> tuple[int, int]:
    """Whole numbers ``low <= 2**bits exp(-x) <= high`` for a rational ``x >= 0``. proof: exponential"""
    halvings = math.ceil(x).bit_length()
    guard = bits + 2 * halvings + 16  # every squaring below doubles the error
    one = 1 << guard
    numerator, denominator = (x / (1 << halvings)).as_integer_ratio()
    low = high = least = most = one
    k = 0
    while most > 1:  # Taylor's series of exp(y), y = x / 2**halvings < 1
        k += 1
        least = least * numerator // (denominator * k)
        most = -(-most * numerator // (denominator * k))
        low, high = low + least, high + most
    low, high = one * one // (high + 1), -(-one * one // low)
    for _ in range(halvings):
        low, high = low * low >> guard, -(-high * high >> guard)
    return low >> (guard - bits), -(-high >> (guard - bits))


def exponentials(rate: Fraction, count: int, bits: int) -> list[tuple[int, int]]:
    """Enclosures of ``2**bits exp(-rate k)`` for k = 0, ..., count - 1. proof: exponential"""
    low, high = exponential(rate, bits)
    table = [(1 << bits, 1 << bits)]
    while len(table) < count:
        least, most = table[-1]
        table.append((least * low >> bits, -(-most * high >> bits)))
    return table


def below(count: int, noise: NoiseSource) -> int:
    """A whole number in [0, count), each with the same probability. proof: below"""
    bits = (count - 1).bit_length()
    while (drawn := noise.bits(bits)) >= count:
        pass
    return drawn


def permutation(count: int, noise: NoiseSource) -> NDArray[np.intp]:
    """A random order of ``count`` things, all orders with the same probability. proof: permutation"""
    while True:
        keys = np.frombuffer(noise.bits(64 * count).to_bytes(8 * count, "little"), dtype="<u8")
        order = np.argsort(keys)
        if np.all(np.diff(keys[order])):
            return np.asarray(order)


def certain_choice(weights: Callable[[int], Sequence[tuple[int, int]]], bits: int, noise: NoiseSource) -> int:
    """Index i with probability exactly w_i / sum_j w_j. proof: choice

    ``weights(bits)`` encloses the w_i, in a common unit, the more closely the more bits; ``bits`` is a first try.
    """
    drawn = noise.bits(bits)
    while True:
        table = weights(bits)
        lows, highs = (list(accumulate(column)) for column in zip(*table, strict=True))
        # The uniform number lies in [drawn, drawn + 1] / 2**bits: i is certain if its share of the sum holds all of that.
        right = (drawn + 1) * highs[-1]
        i = next((i for i, low in enumerate(lows) if right <= low << bits), len(table) - 1)
        if i == 0 or drawn * lows[-1] >= highs[i - 1] << bits:
            return i
        drawn, bits = drawn << bits | noise.bits(bits), 2 * bits


def exponential_choice(weights: Sequence[int], rate: Fraction, noise: NoiseSource) -> int:
    """Index i with probability exactly weights[i] exp(rate i) / sum_j weights[j] exp(rate j). proof: exponents

    Weights are whole numbers >= 0, not all zero; the rate is >= 0.
    """
    top = max(i for i, weight in enumerate(weights) if weight)
    bits = FIRST_BITS + max(weights).bit_length() - weights[top].bit_length()

    def enclosed(bits: int) -> list[tuple[int, int]]:
        table = exponentials(rate, top + 1, bits)[::-1]
        return [(weight * low, weight * high) for weight, (low, high) in zip(weights, table, strict=False)]

    return certain_choice(enclosed, bits, noise)


def rounded_uniform(low: Fraction, high: Fraction, noise: NoiseSource) -> float:
    """The float nearest to a uniform *real* number between ``low`` and ``high``. proof: uniform"""
    drawn = bits = 0
    while True:
        drawn, bits = drawn << FIRST_BITS | noise.bits(FIRST_BITS), bits + FIRST_BITS
        left, right = (float(low + (high - low) * Fraction(end, 1 << bits)) for end in (drawn, drawn + 1))
        if left == right:
            return left + 0.0  # one zero, not two
