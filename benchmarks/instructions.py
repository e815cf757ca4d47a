"""Where the instructions go: the kernel's programs under valgrind's callgrind, by the source line that each comes from.

Counts, unlike times, are the same in every run. The program is compiled as it is shipped, functions inlined: an instruction
belongs to the function of the source in whose lines it was written. valgrind knows AVX2 and not AVX-512.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from maxik.kernel.build_kernel import LANES, compile_flags

KERNEL = Path(__file__).resolve().parents[1] / "kernel"
_DEFINITION = re.compile(r"^(?!typedef)[\w(][\w *()]*?\b([A-Za-z_]\w*) ?\([^;{]*$")
_HEADER_INLINE = re.compile(r"^(_mm\w+) \(")


def build(folder: Path, source: str) -> Path:
    """Build one of the kernel's programs with the shipped flags, debug lines added."""
    program = folder / Path(source).stem
    units = [str(KERNEL / f"{unit}.c") for unit in LANES if "x87_53" in unit]
    command = ["cc", *compile_flags(), "-g", "-DMAXIK_WITH_LANES", str(KERNEL / source), *units, "-o", str(program), "-lm"]
    subprocess.run(command, check=True)
    return program


def count(folder: Path, command: Sequence[str], given: bytes = b"") -> Counter[tuple[str, str]]:
    """Return the instructions of a command by (file, function); functions without source have their own name."""
    out = folder / "callgrind.out"
    tool = ["valgrind", "--tool=callgrind", "--compress-pos=no", "--compress-strings=no", f"--callgrind-out-file={out}"]
    subprocess.run([*tool, *command], input=given, check=True, capture_output=True)
    found: Counter[tuple[str, str]] = Counter()
    file = function = ""
    inclusive = False
    for line in out.read_text(encoding="utf-8", errors="replace").splitlines():
        key, _, value = line.partition("=")
        if key in ("fl", "fi", "fe"):
            file = value
        elif key == "fn":
            function = value
        elif key == "calls":
            inclusive = True  # the next line is what the callee costs
        elif line[:1].isdigit() and not inclusive:
            number, cost = map(int, line.split()[:2])
            found[Path(file).name, _function_at(file, number) or function.split("'")[0]] += cost
        elif line[:1].isdigit():
            inclusive = False
    return found


def a_frame(folder: Path, program: Path, path: int, frames: int = 2000) -> Counter[tuple[str, str]]:
    """Return the instructions that profile_main.c spends on every further frame of a take, times `frames`."""
    some, more = (count(folder, [str(program), str(path), str(number)]) for number in (frames, 2 * frames))
    more.subtract(some)
    del more["profile_main.c", "draw"], more["profile_main.c", "main"]
    return more


@cache
def _functions_of(file: str) -> tuple[tuple[int, str], ...]:
    """Return the lines at which functions of a C file begin."""
    try:
        text = Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ()
    pattern = _HEADER_INLINE if "/gcc/" in file else _DEFINITION
    return tuple((number, match[1]) for number, line in enumerate(text.splitlines(), 1) if (match := pattern.match(line)))


def _function_at(file: str, line: int) -> str | None:
    before = [name for start, name in _functions_of(file) if start <= line]
    return before[-1] if before else None


def by_kind(functions: Mapping[tuple[str, str], int], kinds: Mapping[str, str]) -> dict[str, int]:
    """Return instructions by kind; `kinds` are names -> a pattern of "file:function", of which the first that fits counts."""
    found = dict.fromkeys([*kinds, "other"], 0)
    for (file, function), instructions in functions.items():
        where = f"{file}:{function}"
        found[next((kind for kind, pattern in kinds.items() if re.search(pattern, where)), "other")] += instructions
    return found
