"""Docstrings are whole: what they leave out is told from one place, in the order of the signature."""

from __future__ import annotations

import pydoc

import eptr
from eptr.docstrings import described


def test_what_is_left_out_is_added_in_order():
    @described
    def borrowed(x, ledger, size, **shared):
        """Do it.

        Parameters
        ----------
        size : float
            How large.
        ledger : str
            Another one.

        Examples
        --------
        None.
        """

    doc = borrowed.__doc__
    places = [doc.index(f"\n{name} :") for name in ("x", "ledger", "size", "neighbours", "random_state")]
    assert places == sorted(places)
    assert places[-1] < doc.index("Examples")
    assert "Another one." in doc
    assert doc.count("ledger :") == 1


def test_help_tells_what_the_site_tells():
    for thing, words in ((eptr.BayesClassifier, "in one frozen record"), (eptr.stats.median, "random_state : ")):
        assert words in pydoc.plain(pydoc.render_doc(thing))
