"""The site: the pages beside this file, and what collect.py finds in the code."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

import collect  # noqa: E402
import links  # noqa: E402

import eptr  # noqa: E402

project = "eptr"
author = "the eptr developers"
copyright = author
version = release = eptr.__version__

extensions = ["sphinx.ext.autodoc", "numpydoc", "myst_parser"]
exclude_patterns = ["**/README.md"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = f"eptr {version}"
html_static_path = ["static"]
html_css_files = ["eptr.css"]
html_copy_source = html_show_sourcelink = False
html_show_search_summary = False  # summaries are fetched, which a browser refuses to pages that are files
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "eptr"},
    "header_links_before_dropdown": 7,
    "navbar_persistent": [],
    "navbar_end": ["search-button-field", "theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_nav_level": 1,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def setup(app):
    """Write the collected pages before Sphinx looks for pages, and lead every link to a page of the site."""
    app.connect("config-inited", lambda app, config: collect.write(HERE))
    app.connect("source-read", lambda app, name, source: source.__setitem__(0, links.linked(source[0], name)))
    # Before numpydoc reads it.
    app.connect("autodoc-process-docstring", lambda *said: collect.printable(said[-1]), priority=100)
    return {"parallel_read_safe": True}
