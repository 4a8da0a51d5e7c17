"""A real browser without a screen: does a page load without errors, and is there something in each of its figures?"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np

NAMES = ("chromium", "chromium-browser", "google-chrome")
BOXES = """<pre id='boxes'></pre><script>
document.getElementById('boxes').textContent = JSON.stringify([...document.querySelectorAll('figure svg')].map(e => {
  const b = e.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; }).filter(b => b[2] > b[0]));
</script></body>"""


def browser():
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def _run(page, *flags, size="1000,2600"):
    root = ["--no-sandbox"] if os.getuid() == 0 else []
    command = [browser(), "--headless", "--disable-gpu", "--hide-scrollbars", f"--window-size={size}", *root, *flags]
    done = subprocess.run(
        [*command, "--enable-logging=stderr", page.as_uri()], capture_output=True, text=True, timeout=120, check=True
    )
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def look(page: Path, size="1000,2600"):
    """(console messages, one array of pixels per figure that is shown)."""
    from matplotlib.image import imread  # not where the wheel stands without extras

    picture, marked = page.with_suffix(".png"), page.with_name(f"{page.stem}-marked.html")
    marked.write_text(page.read_text(encoding="utf-8").replace("</body>", BOXES), encoding="utf-8")
    dom, console = _run(marked, f"--screenshot={picture}", "--dump-dom", size=size)
    boxes = json.loads(html.unescape(re.search(r"<pre id=.boxes.>(.*?)</pre>", dom).group(1)))
    pixels = np.asarray(imread(picture))[:, :, :3]
    return console, [pixels[int(t) : int(b), int(x0) : int(x1)] for x0, t, x1, b in boxes]
