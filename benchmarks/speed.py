"""Writes docs/speed.md: what solves and whole commands cost, in one run, as ratios, and where the instructions go.

    python benchmarks/speed.py -o docs/speed.md        (make speed)

What is not at hand, ikpy, a 32-bit compiler, valgrind, is left out and named.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from limb_speed import by_length, by_others, by_path, cores, engine, instructions
from maxik.formats.whole_file import write_whole
from spline_speed import splines
from timing import table

ROOT = Path(__file__).resolve().parents[1]
SCENE = ROOT.parent / "shared" / "maxfiles" / "davestewart-maxscript__character.max"


def start_up() -> Iterator[str]:
    """How long whole commands take, each in a new process."""
    yield "## Whole commands"
    yield ""
    yield "Medians of 15 runs, each a new process; the modules' bytecode is in its cache, as pip leaves it."
    yield ""
    commands = {
        "python -c pass": ["-c", "pass"],
        "import maxik": ["-c", "import maxik"],
        "maxik --help": ["-m", "maxik", "--help"],
    }
    with tempfile.TemporaryDirectory() as folder:
        if SCENE.is_file():
            output = str(Path(folder) / "out.glb")
            bake = ["-m", "maxik", "bake", str(SCENE), "-o", output, "--skip-unsupported", "--range", "0:299"]
            commands[f"maxik bake, 300 frames of a scene of {SCENE.stat().st_size / 1e6:.1f} MB"] = bake
        rows = [[name, f"{1e3 * _median(arguments):.0f} ms"] for name, arguments in commands.items()]
    yield from table(["command", "median"], rows)


def _median(arguments: Sequence[str]) -> float:
    times = []
    cached = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(16):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=cached)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])  # the first may have written the bytecode


def page() -> Iterator[str]:
    """Yield the page's lines."""
    model = next((line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")), platform.processor())
    told = engine().describe()
    yield "# Speed"
    yield ""
    yield "Written by `make speed`. All paths give the same bits: [The numerics](numerics.md#lanes) says why, [Every float32"
    yield "input](exhaust.md) what was compared. Times are the shortest of several rounds, ratios the median over the rounds."
    yield ""
    yield f"{model}, {cores()} cores, {platform.system()}, {told['implementation']}; `auto` takes {told['limb_path']}."
    yield ""
    yield from by_path()
    yield from by_others()
    yield from by_length()
    with tempfile.TemporaryDirectory() as folder:
        if shutil.which("valgrind"):
            yield from instructions(Path(folder))
            yield from splines(Path(folder))
        else:
            yield "Instructions were not counted: there is no valgrind."
    yield from start_up()


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print the page, write it."""
    parser = argparse.ArgumentParser(description="Measure the kernel and write a page about it.")
    parser.add_argument("-o", "--output", help="write the page here")
    arguments = parser.parse_args(argv)
    text = "\n".join(page()).rstrip() + "\n"
    print(text)
    if arguments.output:
        write_whole(arguments.output, text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
