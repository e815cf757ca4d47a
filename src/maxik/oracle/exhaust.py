"""Exhaustion: every float32 input of the kernel's transcendentals and square root against the correctly rounded result.

    python -m maxik.oracle.exhaust -o docs/exhaust.md

kernel/exhaust_main.c decides nearly all inputs; those whose exact value lies near a midpoint of two floats come here and
are computed with MPFR at 53 bits, correctly rounded, and then rounded to float: what ../shared/vectors/crt/README.md states
of the real C runtime. kernel/exhaust_lanes_main.c then holds the functions in lanes, on every path of the machine, against
these results. The summary says how many inputs were decided which way, and how long it took.
"""

from __future__ import annotations

import argparse
import math
import os
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import gmpy2

from maxik.errors import EngineError
from maxik.formats.whole_file import write_whole
from maxik.kernel.build_kernel import LANES, compile_flags
from maxik.oracle.build import KERNEL, cache_folder, source_hash, toolchain

FUNCTIONS = ("acos_safe", "cos_half", "neg_sin_half", "sin", "cos", "sqrt")
LANE_FUNCTIONS = ("acos_safe", "cos_half", "neg_sin_half", "sin", "cos")
ATAN2, DIVISION, IN_LANES = "atan2", "division", "lanes:"
PATTERNS = 1 << 32
PAIRS = 1_000_000_000
_CHUNK = 1 << 26
_PAIRS_AT_ONCE = 20_000_000


@dataclass
class Exhausted:
    """One function over a range of inputs: how many were checked, undecided (left to MPFR or to the scalar path), wrong."""

    function: str
    checked: int = 0
    undecided: int = 0
    wrong: int = 0
    first_wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, other: Exhausted) -> None:
        """Add another range of the same function."""
        self.checked += other.checked
        self.undecided += other.undecided
        self.wrong += other.wrong
        self.first_wrong = (self.first_wrong + other.first_wrong)[:10]


def build_program(name: str = "exhaust", lanes: Sequence[str] = ()) -> Path:
    """Build kernel/NAME_main.c with the flags of the extension; EngineError where that cannot be done."""
    (compiler,), _, _ = toolchain("native")
    folder = cache_folder() / f"exhaust-{source_hash()}"
    program = folder / name
    if not program.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        beside = folder / f"{name}.{os.getpid()}.part"
        sources = [str(KERNEL / source) for source in (f"{name}_main.c", *lanes)]
        command = [compiler, *compile_flags(), *(["-DMAXIK_WITH_LANES"] if lanes else []), *sources, "-o", str(beside), "-lm"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - the compiler
        if ran.returncode:
            message = f"the exhaustion does not build: {ran.stderr.strip().splitlines()[0]}"
            raise EngineError(message)
        beside.replace(program)
    return program


def build_lanes_program() -> Path:
    """Build kernel/exhaust_lanes_main.c with the lanes of the reference's environment."""
    return build_program("exhaust_lanes", [f"{unit}.c" for unit in LANES if "x87_53" in unit])


def exhaust_lanes(program: Path, function: str, first: str, second: str) -> Exhausted:
    """Check a function in lanes over bit patterns first..second (hex), pairs (seed, count), or division (0, 0)."""
    lines, (checked, in_doubt, wrong) = _run(program, function, first, second)
    return Exhausted(IN_LANES + function, checked, in_doubt, wrong, [f"{function} {line[2:]}" for line in lines][:10])


def _run(program: Path, *arguments: str) -> tuple[list[str], tuple[int, int, int]]:
    """Return the lines that a program prints, and the three counts of its last one."""
    ran = subprocess.run([str(program), *arguments], capture_output=True, text=True, check=False)  # noqa: S603 - our own build
    *lines, last = ran.stdout.splitlines() or [""]
    if ran.returncode or not last.startswith("done "):
        message = f"{program.name} {' '.join(arguments)} broke off"
        raise EngineError(message)
    first, second, third = map(int, last.split()[1:])
    return lines, (first, second, third)


def lanes_work(function: str) -> list[tuple[str, str]]:
    """Return the arguments of all runs of a function in lanes."""
    if function == DIVISION:
        return [("0", "0")]
    if function == ATAN2:
        return [(str(seed), str(_PAIRS_AT_ONCE)) for seed in range(PAIRS // _PAIRS_AT_ONCE)]
    return [(f"{at:x}", f"{at + _CHUNK - 1:x}") for at in range(0, PATTERNS, _CHUNK)]


def exhaust(program: Path, function: str, first: int, last: int) -> Exhausted:
    """Check the inputs with bit patterns first..last of a function."""
    lines, (checked, undecided, wrong) = _run(program, function, f"{first:x}", f"{last:x}")
    found = Exhausted(function, checked, undecided, wrong)
    for line in lines:
        kind, given, got, *_ = line.split()
        if kind == "a":
            right = rounded_bits(function, int(given, 16))
            if right == int(got, 16):
                continue
            found.wrong += 1
            line = f"m {given} {got} {right:08x}"  # noqa: PLW2901 - now decided
        found.first_wrong.append(f"{function} {line[2:]}")
    found.first_wrong = found.first_wrong[:10]
    return found


def rounded_bits(function: str, bits: int) -> int:
    """Return the bits of the exact value rounded to binary64 by MPFR, then to float, both to nearest even."""
    (x,) = struct.unpack("<f", struct.pack("<I", bits))
    with gmpy2.context(precision=53, emin=-1073, emax=1024, subnormalize=True):
        value = {
            "acos_safe": lambda: gmpy2.acos(gmpy2.mpfr(x)),
            "cos_half": lambda: gmpy2.cos(gmpy2.mpfr(0.5 * x)),
            "neg_sin_half": lambda: -gmpy2.sin(gmpy2.mpfr(0.5 * x)),
            "sin": lambda: gmpy2.sin(gmpy2.mpfr(x)),
            "cos": lambda: gmpy2.cos(gmpy2.mpfr(x)),
        }[function]()
    return int(struct.unpack("<I", struct.pack("<f", float(value)))[0])


def exhaust_all(functions: Sequence[str], processes: int, show: Callable[[str, int, int], None]) -> list[Exhausted]:
    """Check every input of the functions, `processes` runs at a time; `show` gets function, runs done, runs in all."""
    results = []
    for function in functions:
        start = time.perf_counter()
        total = Exhausted(function)
        run: Callable[[Any, Any], Exhausted]
        if function.startswith(IN_LANES):
            name = function.removeprefix(IN_LANES)
            work: list[tuple[Any, Any]] = list(lanes_work(name))
            run = partial(exhaust_lanes, build_lanes_program(), name)
        else:
            work = [(at, at + _CHUNK - 1) for at in range(0, PATTERNS, _CHUNK)]
            run = partial(exhaust, build_program(), function)
        with ThreadPoolExecutor(processes) as pool:
            for done, found in enumerate(pool.map(run, *zip(*work, strict=True)), 1):
                total.add(found)
                show(function, done, len(work))
        total.seconds = time.perf_counter() - start
        results.append(total)
    return results


def summary(results: Sequence[Exhausted], processes: int) -> str:
    """Return the summary page."""
    return "\n".join(_summary(results, processes)) + "\n"


def _summary(results: Sequence[Exhausted], processes: int) -> Iterator[str]:
    yield "# Every float32 input"
    yield ""
    yield "Written by `make exhaust`. Every float32 bit pattern in a function's range went through the kernel, and its result"
    yield "was compared with the exact value rounded to binary64 and then to float: what was measured of the real msvcr90."
    yield "A second evaluation in long double, trusted to 2^-40 only, decides all inputs but those near a midpoint of two"
    yield "floats; these went to MPFR. Square roots are decided exactly. In range: acos_safe and sqrt all 2^32 patterns, sin"
    yield "and cos up to 131071, the halves up to 262142 (kernel/exhaust_main.c, src/maxik/oracle/exhaust.py)."
    yield ""
    yield "| function | inputs | by MPFR | wrong | seconds |"
    yield "|---|---|---|---|---|"
    scalar = [entry for entry in results if not entry.function.startswith(IN_LANES)]
    for entry in scalar:
        yield f"| {entry.function} | {entry.checked:,} | {entry.undecided:,} | {entry.wrong} | {entry.seconds:.0f} |"
    yield ""
    yield "## In lanes"
    yield ""
    yield "The functions in lanes (kernel/lane_functions.h), on every path of the machine that wrote this page, against the"
    yield "results above: all 2^32 patterns, and for atan2 random pairs and pairs at the boundaries of its reduction, of the"
    yield "axes and of the floats. A result in doubt is left to the scalar path; one that is not has to have its bits."
    yield "Inputs count once for each path. `division` lists all quotients that divide() of kernel/lane_algebra.h could round"
    yield (
        "otherwise than a division does: its inputs are the midpoints that were looked at, in doubt are the quotients that lie"
    )
    yield "that near, wrong those that it misses."
    yield ""
    yield "| function | inputs | in doubt | wrong | seconds |"
    yield "|---|---|---|---|---|"
    for entry in (entry for entry in results if entry.function.startswith(IN_LANES)):
        name = entry.function.removeprefix(IN_LANES)
        yield f"| {name} | {entry.checked:,} | {entry.undecided:,} | {entry.wrong} | {entry.seconds:.0f} |"
    total = sum(entry.seconds for entry in results)
    yield ""
    yield f"{sum(entry.checked for entry in results):,} inputs in {math.ceil(total / 60)} minutes, {processes} processes."
    for entry in results:
        yield from (f"wrong: {line}" for line in entry.first_wrong)


def main(argv: Sequence[str] | None = None) -> int:
    """Run from the command line; exit code 0 only when no result is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m maxik.oracle.exhaust", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    known = (*FUNCTIONS, *(IN_LANES + name for name in (*LANE_FUNCTIONS, ATAN2, DIVISION)))
    parser.add_argument("functions", nargs="*", metavar="FUNCTION", help=f"of {', '.join(known)} (default: all)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("-o", "--output", help="also write the summary here")
    arguments = parser.parse_args(argv)
    unknown = [name for name in arguments.functions if name not in known]
    if unknown:
        parser.error(f"there is no function {unknown[0]}; there are {', '.join(known)}")
    from rich.console import Console  # noqa: PLC0415 - the bar is for people
    from rich.progress import Progress  # noqa: PLC0415

    functions = arguments.functions or list(known)
    with Progress(console=Console(stderr=True), transient=True) as bar:
        tasks = {name: bar.add_task(name, total=None) for name in functions}
        results = exhaust_all(
            functions,
            arguments.processes,
            lambda name, done, in_all: bar.update(tasks[name], completed=done, total=in_all),
        )
    page = summary(results, arguments.processes)
    print(page)
    if arguments.output:
        write_whole(arguments.output, page.encode())
    return 0 if not any(entry.wrong for entry in results) else 1


if __name__ == "__main__":
    sys.exit(main())
