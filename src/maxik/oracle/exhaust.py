"""Exhaustion: every float32 input of the kernel's transcendentals and square root against the correctly rounded result.

    python -m maxik.oracle.exhaust -o docs/exhaust.md

kernel/exhaust_main.c decides nearly all inputs; those whose exact value lies near a midpoint of two floats come here and
are computed with MPFR at 53 bits, correctly rounded, and then rounded to float: what ../shared/vectors/crt/README.md states
of the real C runtime. The summary says how many inputs were decided which way, and how long it took.
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

import gmpy2

from maxik.errors import EngineError
from maxik.formats.whole_file import write_whole
from maxik.kernel.build_kernel import compile_flags
from maxik.oracle.build import KERNEL, cache_folder, source_hash, toolchain

FUNCTIONS = ("acos_safe", "cos_half", "neg_sin_half", "sin", "cos", "sqrt")
PATTERNS = 1 << 32
_CHUNK = 1 << 26


@dataclass
class Exhausted:
    """One function over a range of inputs: how many were checked, went to MPFR, and are wrong, with the first wrong ones."""

    function: str
    checked: int = 0
    by_mpfr: int = 0
    wrong: int = 0
    first_wrong: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, other: Exhausted) -> None:
        """Add another range of the same function."""
        self.checked += other.checked
        self.by_mpfr += other.by_mpfr
        self.wrong += other.wrong
        self.first_wrong = (self.first_wrong + other.first_wrong)[:10]


def build_program() -> Path:
    """Build kernel/exhaust_main.c with the flags of the extension; EngineError where that cannot be done."""
    (compiler,), _, _ = toolchain("native")
    folder = cache_folder() / f"exhaust-{source_hash()}"
    program = folder / "exhaust"
    if not program.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        beside = folder / f"exhaust.{os.getpid()}.part"
        command = [compiler, *compile_flags(), str(KERNEL / "exhaust_main.c"), "-o", str(beside), "-lm"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - the compiler
        if ran.returncode:
            message = f"the exhaustion does not build: {ran.stderr.strip().splitlines()[0]}"
            raise EngineError(message)
        beside.replace(program)
    return program


def exhaust(program: Path, function: str, first: int, last: int) -> Exhausted:
    """Check the inputs with bit patterns first..last of a function."""
    command = [str(program), function, f"{first:x}", f"{last:x}"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own build
    lines = ran.stdout.splitlines()
    if ran.returncode or not lines or not lines[-1].startswith("done "):
        message = f"the exhaustion of {function} broke off at {first:08x}..{last:08x}"
        raise EngineError(message)
    checked, undecided, wrong = map(int, lines[-1].split()[1:])
    found = Exhausted(function, checked, undecided, wrong)
    for line in lines[:-1]:
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


def exhaust_all(program: Path, functions: Sequence[str], processes: int, show: Callable[[str, int], None]) -> list[Exhausted]:
    """Check every input of the functions, `processes` ranges at a time; `show` is called with function and ranges done."""
    results = []
    for function in functions:
        start = time.perf_counter()
        total = Exhausted(function)
        with ThreadPoolExecutor(processes) as pool:
            ranges = range(0, PATTERNS, _CHUNK)
            run = partial(exhaust, program, function)
            for done, found in enumerate(pool.map(run, ranges, (at + _CHUNK - 1 for at in ranges)), 1):
                total.add(found)
                show(function, done)
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
    for entry in results:
        yield f"| {entry.function} | {entry.checked:,} | {entry.by_mpfr:,} | {entry.wrong} | {entry.seconds:.0f} |"
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
    parser.add_argument("functions", nargs="*", metavar="FUNCTION", help=f"of {', '.join(FUNCTIONS)} (default: all)")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("-o", "--output", help="also write the summary here")
    arguments = parser.parse_args(argv)
    unknown = [name for name in arguments.functions if name not in FUNCTIONS]
    if unknown:
        parser.error(f"there is no function {unknown[0]}; there are {', '.join(FUNCTIONS)}")
    from rich.console import Console  # noqa: PLC0415 - the bar is for people
    from rich.progress import Progress  # noqa: PLC0415

    functions = arguments.functions or list(FUNCTIONS)
    with Progress(console=Console(stderr=True), transient=True) as bar:
        tasks = {name: bar.add_task(name, total=PATTERNS // _CHUNK) for name in functions}
        results = exhaust_all(
            build_program(), functions, arguments.processes, lambda name, done: bar.update(tasks[name], completed=done)
        )
    page = summary(results, arguments.processes)
    print(page)
    if arguments.output:
        write_whole(arguments.output, page.encode())
    return 0 if not any(entry.wrong for entry in results) else 1


if __name__ == "__main__":
    sys.exit(main())
