"""The site: every public name and parameter is described, pictures are those of the results, and it is read offline."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import matplotlib
import numpy as np
import pytest

from .browser import _run, browser

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs"))
pytest.importorskip("numpydoc", reason="the documentation needs pip install '.[docs]'")

import collect  # noqa: E402
import formulas  # noqa: E402
import links  # noqa: E402
import parameters  # noqa: E402

NAMES = [(room, name, thing) for room, name, thing in collect.public()]


@pytest.mark.parametrize(("room", "name", "thing"), NAMES, ids=[f"{room}.{name}" for room, name, _ in NAMES])
def test_every_public_name_parameter_and_attribute_is_described(room, name, thing):
    doc = collect.inspect.getdoc(thing)
    assert doc
    assert parameters.wanted(thing) - parameters.described(thing) == set()
    assert not re.search(r"\b[Aa]s in :|[Ss]ee :(class|func)|parameters are those", doc), "say it where it is used"


def test_every_method_and_property_is_described():
    for room, name, thing in NAMES:
        for member, _ in collect.members(thing) if isinstance(thing, type) else ():
            assert collect.inspect.getdoc(collect.inspect.getattr_static(thing, member)), f"{room}.{name}.{member}"


def test_proofs_and_the_reference_lead_to_each_other():
    pages, names = dict(collect.proofs()), {f"{room}.{name}" for room, name, _ in NAMES}
    relied = {name for text in pages.values() for name in re.findall(r"\(/reference/([\w.]+)\.rst\)", text)}
    assert relied <= names
    for room, name, _ in NAMES:
        for proof in collect.proofs_of(room, name):
            assert f"/reference/{room}.{name}.rst" in pages[f"proofs/{collect.proof_names(proof)}"]
    assert {"eptr.LinearRegression", "eptr.stats.mean", "eptr.Study", "eptr.release", "eptr.rivals.AdaSSP"} <= relied


@pytest.mark.parametrize(
    ("plain", "printed"),
    [
        ("p_{k+1} = G(p_k) <= delta", "p<sub>k+1</sub> = G(p<sub>k</sub>) ≤ δ"),
        ("e^{-eps' g/2} and 2^-53.", "e<sup>-ε' g/2</sup> and 2<sup>-53</sup>."),
        ("delta_G >= sqrt(mu)", "δ<sub>G</sub> ≥ √(μ)"),
        ("w'_j² (1 - x)_+", "w'<sub>j</sub>² (1 - x)<sub>+</sub>"),
        ("|theta^' - theta^| <= |x|_1 n^.7", "|θ̂' - θ̂| ≤ |x|<sub>1</sub> n<sup>.7</sup>"),
        ("m_i^- e^|x| s^2.", "m<sub>i</sub><sup>-</sup> e<sup>|x|</sup> s<sup>2</sup>."),
        ("`gaussian_mu(eps)` of rows_each", "`gaussian_mu(eps)` of rows_each"),
    ],
)
def test_formulas_are_printed(plain, printed):
    assert formulas.typeset(plain) == printed


def test_links_lead_to_pages():
    assert links.linked("[a](../src/eptr/privacy/ladder.md#ends)", "trust") == "[a](proofs/privacy/ladder.md#ends)"
    assert links.linked("[a](../REPRODUCTION.md)", "glossary") == "[a](project/reproduction.md)"
    assert links.linked("[a](docs/limits.md)", "project/security") == "[a](../limits.md)"
    assert links.linked("[a](../tests/test_house.py)", "trust") == "a"  # no page: the words stay
    assert links.linked("![a](results/reproduction/x.png)", "project/reproduction").endswith(
        "(../../results/reproduction/x.png)"
    )


def test_messages_are_found_in_the_code():
    found = collect.messages()
    assert any("pass one of them" in words for words in found["BoundError"])
    assert sum(map(len, found.values())) > 200


def test_pictures_show_the_numbers_of_the_results():
    from benchmarks.pictures import IMAGES, PICTURES, digest
    from PIL import Image

    for name, (shown, _) in PICTURES.items():
        with Image.open(IMAGES / f"{name}.png") as picture:
            assert picture.text["Description"] == digest(shown()), "run python -m benchmarks.pictures"


@pytest.mark.filterwarnings("ignore::eptr.NotPrivateWarning")
def test_the_demo_measures_and_draws(tmp_path):
    from eptr import demo

    table = demo.run(replications=1, rows=4000)
    assert set(table) == set(demo.OUTCOMES)
    assert all(np.isfinite(d) and d > 0 for row in table.values() for d in row.values())
    demo.draw(table, str(tmp_path / "demo.png"), far=3.0)
    pixels = matplotlib.image.imread(tmp_path / "demo.png")
    assert pixels[:, :, :3].std() > 0.05


class Links(HTMLParser):
    """Where the links of a page lead, and what it loads."""

    def __init__(self):
        super().__init__()
        self.links, self.loads, self.anchors = [], [], set()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.anchors.add(attrs.get("id"))
        if tag == "a":
            self.links.append(attrs.get("href") or "")
        elif tag != "link" or "stylesheet" in (attrs.get("rel") or ""):
            self.loads += [attrs[k] for k in ("src", "href") if attrs.get(k)]


def read(page):
    found = Links()
    found.feed(page.read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    place = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "sphinx",
            "-W",
            "--keep-going",
            "-q",
            "-d",
            place / "trees",
            ROOT / "docs",
            place / "site",
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return place / "site"


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_the_site_is_read_offline(site):
    for page in site.rglob("*.html"):
        assert not [x for x in read(page).loads if x.startswith(("http", "//"))], page
    for style in site.rglob("*.css"):
        assert not re.findall(r"url\(['\"]?(?:https?:)?//|@import ['\"]?http", style.read_text(errors="ignore")), style
    index = (site / "searchindex.js").read_text()
    assert all(word in index for word in ("clip", "ledger", "interv"))


@pytest.mark.slow
@pytest.mark.xdist_group("site")
def test_every_link_and_anchor_of_the_site_exists(site):
    pages = {page: read(page) for page in site.rglob("*.html")}
    for page, found in pages.items():
        for link in found.links:
            path, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:", link) or (path.endswith(".html") is False and path):
                continue
            there = (page.parent / path).resolve() if path else page
            assert there.exists(), f"{page.name}: {link}"
            if anchor and there in pages:
                assert anchor in pages[there].anchors, f"{page.name}: {link}"


@pytest.mark.slow
@pytest.mark.xdist_group("site")
@pytest.mark.parametrize("question", ["mean-of-income-by-sex", "regression-with-categories", "left-of-my-budget"])
def test_a_newcomer_is_one_click_away(site, question):
    assert any(question in link for link in read(site / "index.html").links)


@pytest.mark.slow
@pytest.mark.xdist_group("site")
@pytest.mark.skipif(browser() is None, reason="no Chromium to look with")
def test_a_browser_loads_pages_and_finds_words(site):
    for name in ("index.html", "proofs/privacy/ladder.html", "reference/eptr.LinearRegression.html"):
        _, console = _run(site / name, "--dump-dom")
        assert [line for line in console if "[PST]" not in line] == []  # the theme says what it did
    address = (site / "search.html").as_uri() + "?q=clipping"
    page = type("Page", (), {"as_uri": lambda self: address})()
    dom, console = _run(page, "--dump-dom", "--virtual-time-budget=20000")
    assert [line for line in console if "[PST]" not in line] == []
    assert re.search(r"class=\"search-summary\"[^>]*>[^<]*\d+", dom), "the search found nothing"
