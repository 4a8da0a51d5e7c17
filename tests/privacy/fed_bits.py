"""Every sequence of random bits, fed one after the other: the exact distribution of a draw, without statistics."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction


class Exhausted(Exception):
    pass


class FedBits:
    """A noise source that reads the binary digits of ``value``, first digit first."""

    private = False

    def __init__(self, value, length):
        self.value, self.left = value, length

    def bits(self, count):
        if count > self.left:
            raise Exhausted
        self.left -= count
        return self.value >> self.left & (1 << count) - 1


def distribution(draw, longest):
    """Probability of each result that at most ``longest`` bits decide, and the probability that they do not."""
    found, undecided, waiting = Counter(), Fraction(0), [(0, 0)]
    while waiting:
        value, length = waiting.pop()
        try:
            found[draw(FedBits(value, length))] += Fraction(1, 1 << length)
        except Exhausted:
            if length == longest:
                undecided += Fraction(1, 1 << length)
            else:
                waiting += [(2 * value, length + 1), (2 * value + 1, length + 1)]
    return found, undecided
