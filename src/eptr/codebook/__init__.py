"""Public facts about columns, written once, from what is known before seeing the data."""

from __future__ import annotations

from .book import Codebook, described, read_toml
from .kinds import Blank, Category, Date, Flag, Kind, Number, Text

__all__ = ["Blank", "Category", "Codebook", "Date", "Flag", "Kind", "Number", "Text", "described", "read_toml"]
