"""The promotion gate (spec 1.2, 6): native kernel, oracles and model over vectors and random problems, every raw bit.

    python -m maxik.verify.gate --limb 200000 --spline 5000 --vectors ../shared/vectors -o gate.json

The native build stands while it is identical to the x87 build and to the model over the whole corpus; one differing bit
fails the gate. gate.json, format "maxik-gate/1" (docs/oracle.md), says what was compared, by which builds, and the hash
of all outputs. The comparison is shown to see a single changed bit in every run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from maxik.errors import EngineError, MaxikError
from maxik.formats.whole_file import write_whole
from maxik.kernel.choices import LANE_BITS, LEAP, LITERAL
from maxik.kernel.engine import KernelEngine
from maxik.kernel.settings import KernelSettings
from maxik.model.engine import ModelEngine
from maxik.oracle.build import NATIVE, WINE_MINGW, X87_GCC
from maxik.oracle.engine import OracleEngine, open_oracle
from maxik.problems import Engine
from maxik.profile import PROFILES
from maxik.solutions import limb_bits, spline_bits
from maxik.verify import limb_problems, spline_problems
from maxik.verify.check import verify_files

GATE_FORMAT = "maxik-gate/1"
_LIMB_BATCH, _SPLINE_BATCH = 500, 4
_MOST_SHOWN = 20
KERNEL, KERNEL_LEAP, MODEL = "native kernel", "native kernel, leap", "model"
_IN_LANES = "native kernel in lanes, "
"""Followed by a limb path: what solves takes of limbs in lanes, and nothing else."""


@dataclass
class Corpus:
    """One corpus over all engines: problems compared, each engine's hash, problems whose bits differ."""

    count: int = 0
    digests: dict[str, Any] = field(default_factory=dict)
    differing: list[str] = field(default_factory=list)

    def add(self, batch: Batch) -> None:
        """Count a batch; batches come in order, so that hashes do not depend on who computed them."""
        self.count += batch.count
        self.differing += batch.differing
        for engine, output in batch.hashes.items():
            self.digests.setdefault(engine, hashlib.sha256()).update(bytes.fromhex(output))

    def report(self) -> dict[str, Any]:
        """Return the corpus as JSON data."""
        return {
            "problems": self.count,
            "differing": len(self.differing),
            "first_differing": self.differing[:_MOST_SHOWN],
            "sha256": {engine: digest.hexdigest() for engine, digest in self.digests.items()},
        }


@dataclass(frozen=True)
class Batch:
    """A batch of problems: how many, each engine's hash of all outputs, and which differ between engines."""

    count: int
    hashes: Mapping[str, str]
    differing: list[str]


def run_gate(  # noqa: PLR0913 - what a gate compares
    targets: Sequence[str],
    vectors: Sequence[Path],
    *,
    limb: int,
    spline: int,
    processes: int,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """Compare everything and return the report; EngineError where an oracle does not build, start or answer."""
    named = _engines(targets)
    report: dict[str, Any] = {
        "format": GATE_FORMAT,
        "engines": {name: dict(engine.describe()) for name, engine in named.items()},
        "self_check": _sees_one_bit(),
        "vectors": {},
    }
    for name, engine in named.items():
        if name != KERNEL_LEAP and not name.startswith(_IN_LANES):
            progress(f"vectors: {name}")
            found = verify_files([str(path) for path in vectors], engine)
            skipped = sorted({entry.item for entry in found.files if entry.skipped})
            counts = {"passed": found.passed, "failed": found.failed, "skipped": found.skipped}
            report["vectors"][name] = {**counts, "items_of_no_engine": skipped}
        if isinstance(engine, OracleEngine):
            engine.close()
    with ProcessPoolExecutor(processes) as pool:
        for name, count, size, work in (
            ("limb", limb, _LIMB_BATCH, limb_batch),
            ("spline", spline, _SPLINE_BATCH, spline_batch),
        ):
            corpus = Corpus()
            starts = range(0, count, size)
            for batch in pool.map(partial(_limited, work, tuple(targets), count, size), starts):
                corpus.add(batch)
                progress(f"{name}: {corpus.count} of {count}, {len(corpus.differing)} differ")
            report[name] = corpus.report()
    failed = sum(entry["failed"] for entry in report["vectors"].values())
    report["green"] = bool(
        report["self_check"] and not failed and not any(report[name]["differing"] for name in ("limb", "spline"))
    )
    return report


def limb_batch(engines: Mapping[str, Engine], start: int, end: int) -> Batch:
    """Solve the limb problems numbered start..end-1 with every engine: all kinds in turn."""
    kinds = sorted(limb_problems.KINDS)
    names = [(kinds[number % len(kinds)], number) for number in range(start, end)]
    problems = [limb_problems.make_problem(kind, seed) for kind, seed in names]
    outputs = {
        name: [limb_bits(solution) for solution in engine.solve_limbs(problems)]
        for name, engine in engines.items()
        if name != KERNEL_LEAP
    }
    return compare(names, outputs)


def spline_batch(engines: Mapping[str, Engine], start: int, end: int) -> Batch:
    """Solve the spline problems numbered start..end-1 with every engine: all kinds in turn."""
    kinds = sorted(spline_problems.KINDS)
    names = [(kinds[number % len(kinds)], number) for number in range(start, end)]
    problems = [spline_problems.make_problem(kind, seed) for kind, seed in names]
    outputs = {
        name: [spline_bits(engine.solve_spline(problem)) for problem in problems]
        for name, engine in engines.items()
        if not name.startswith(_IN_LANES)
    }
    return compare(names, outputs)


def compare(names: Sequence[tuple[str, int]], outputs: Mapping[str, Sequence[bytes]]) -> Batch:
    """Return hashes and differing problems of a batch; every engine is held against the first."""
    first = next(iter(outputs.values()))
    differing = [
        f"{kind} {seed}: {engine}"
        for engine, found in outputs.items()
        for (kind, seed), mine, other in zip(names, found, first, strict=True)
        if mine != other
    ]
    hashes = {engine: hashlib.sha256(b"".join(found)).hexdigest() for engine, found in outputs.items()}
    return Batch(len(names), hashes, differing)


def _engines(targets: Sequence[str]) -> dict[str, Engine]:
    profile = PROFILES["candidate-1"]
    kernel = KernelEngine(profile, KernelSettings(LITERAL, limb_path=LITERAL))
    named: dict[str, Engine] = {KERNEL: kernel, KERNEL_LEAP: KernelEngine(profile, KernelSettings(LEAP))}
    for path in kernel.limb_paths():
        if path in LANE_BITS:
            named[f"{_IN_LANES}{path}"] = KernelEngine(profile, KernelSettings(limb_path=path))
    named.update({target: open_oracle(target, profile) for target in targets})
    named[MODEL] = ModelEngine(profile)
    return named


_KEPT: dict[tuple[str, ...], dict[str, Engine]] = {}


def _limited(
    work: Callable[[Mapping[str, Engine], int, int], Batch], targets: tuple[str, ...], count: int, size: int, start: int
) -> Batch:
    """Run a batch with the engines of this process, which are opened once."""
    if targets not in _KEPT:
        _KEPT[targets] = _engines(targets)
    return work(_KEPT[targets], start, min(start + size, count))


def _sees_one_bit() -> bool:
    """Flip one bit of one output and tell whether the comparison and the hash see it, and nothing else."""
    kernel = KernelEngine(PROFILES["candidate-1"], KernelSettings(LITERAL, limb_path=LITERAL))
    names = [("plain", seed) for seed in range(8)]
    good = [limb_bits(kernel.solve_limb(limb_problems.make_problem(kind, seed))) for kind, seed in names]
    bad = list(good)
    bad[5] = bytes([*good[5][:3], good[5][3] ^ 1, *good[5][4:]])
    same, changed = compare(names, {"a": good, "b": list(good)}), compare(names, {"a": good, "b": bad})
    return not same.differing and changed.differing == ["plain 5: b"] and changed.hashes["a"] != changed.hashes["b"]


def vector_files(folder: Path) -> Iterator[Path]:
    """Yield the vector files of a folder that gate bits: the C runtime's, the kernel's items and solves, the exports'."""
    for part in ("crt", "kernel/items", "kernel", "max-export"):
        yield from sorted((folder / part).glob("*.jsonl"))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the gate from the command line; exit code 0 only when it is green."""
    parser = argparse.ArgumentParser(prog="python -m maxik.verify.gate", description="The promotion gate.")
    parser.add_argument("--limb", type=int, default=200_000, help="random limb problems (default: 200000)")
    parser.add_argument("--spline", type=int, default=5_000, help="random spline problems (default: 5000)")
    parser.add_argument("--vectors", type=Path, help="folder of vector files")
    parser.add_argument(
        "--target", action="append", choices=(NATIVE, X87_GCC, WINE_MINGW, "wine-cl"), help="oracles (default: x87-gcc)"
    )
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("-o", "--output", default="gate.json")
    arguments = parser.parse_args(argv)
    vectors = list(vector_files(arguments.vectors)) if arguments.vectors else []
    last = [""]

    def show(text: str) -> None:
        if sys.stderr.isatty() and text != last[0]:
            print(f"\r{text:<70}", end="", file=sys.stderr, flush=True)
            last[0] = text

    try:
        report = run_gate(
            arguments.target or [X87_GCC],
            vectors,
            limb=arguments.limb,
            spline=arguments.spline,
            processes=arguments.processes,
            progress=show,
        )
        write_whole(arguments.output, (json.dumps(report, indent=1) + "\n").encode())
    except (MaxikError, EngineError) as error:
        print(f"maxik: {error}", file=sys.stderr)
        return 1
    for name, entry in report["vectors"].items():
        print(f"vectors, {name}: {entry['passed']} passed, {entry['failed']} failed, {entry['skipped']} skipped")
    for name in ("limb", "spline"):
        print(f"{name}: {report[name]['problems']} problems, {report[name]['differing']} differ")
        for line in report[name]["first_differing"]:
            print(f"  {line}")
    print(f"gate {'green' if report['green'] else 'RED'}, written to {arguments.output}")
    return 0 if report["green"] else 1


if __name__ == "__main__":
    sys.exit(main())
