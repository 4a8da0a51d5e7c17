"""``python -m eptr`` is the command line."""

from .cli import main

main()
