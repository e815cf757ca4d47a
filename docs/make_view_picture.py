"""Draws docs/view.png: the page of the walking example as Chromium shows it at 1280 x 800.

.venv/bin/python docs/make_view_picture.py
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from maxik.bake import bake_file
from maxik.view.page import render_page

ROOT = Path(__file__).resolve().parents[1]
FRAME = 20


def main() -> int:
    """Write the picture."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        print("no chromium to draw with")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "walk.html"
        page.write_bytes(render_page(*bake_file(ROOT / "examples" / "walk.scene.json")))
        flags = ["--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        flags += [
            f"--user-data-dir={folder}/profile",
            "--hide-scrollbars",
            "--virtual-time-budget=8000",
            "--window-size=1280,800",
        ]
        command = [browser, *flags, f"file://{page}#frame={FRAME}"]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - the browser found above
    return 0


if __name__ == "__main__":
    sys.exit(main())
