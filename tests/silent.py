"""A budget for tests of what is added up: nothing is added to it."""

from __future__ import annotations

from types import SimpleNamespace


class Silent(SimpleNamespace):
    """Notes what it is asked for and adds nothing; noise is said to be of one ``size``."""

    def noisy(self, values, contribution, share):
        self.values, self.contribution = values, contribution
        return values

    def scale(self, contribution, share):
        return self.size
