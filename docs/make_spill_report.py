"""Writes docs/spills.md: how many solves a compiler's register spills could change, measured in this run.

.venv/bin/python docs/make_spill_report.py [VECTORS]        (default: ../shared/vectors; minutes)
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from maxik.bake import BakeOptions, sample_ticks
from maxik.engines import make_engine
from maxik.formats.scene_json import read_scene_json
from maxik.profile import PROFILES
from maxik.scene.evaluate import evaluate
from maxik.spilling import Problem, Recorder, spill_many, summary
from maxik.vectors import read_vectors, solve_problems

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = PROFILES["candidate-1"]
PAGE = """# Register spills

Written by `make spills` from one run. A compiler may store any intermediate result of a float expression, rounded to
float32; which ones the reference build stored cannot be seen (spec 1.1). The model solves every problem with each such
operation rounded alone, and with all of them rounded: a problem is *stable* when no output bit changes in any of these
solves. `maxik bake --spill` says the same of your own frames, `maxik verify --spill` of vector files.

What changes are last bits, by design: an unstable frame is one whose bits another build of the same source may differ in,
not one that is wrong. x87 code of gcc at -O0, -O1, -O2 and -O3, and MinGW's under Wine, gives the same bits in all of them
([oracle.md](oracle.md)): these compilers spill whole registers, which rounds nothing.

"""


def main() -> None:
    """Write the page."""
    vectors = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared" / "vectors"
    rows, sites = [], Counter[str]()
    for name, problems, singles in [*_vector_problems(vectors), *_example_problems()]:
        found = summary(spill_many(REFERENCE, problems, singles=singles, processes=os.cpu_count() or 1))
        sites.update({entry["site"]: entry["problems"] for entry in found["sites"]})
        rows.append(_row(name, found, singles=singles))
        print(rows[-1], flush=True)
    lines = ["| problems | number | stable | changed by one spill | by all together |", "|---|---|---|---|---|", *rows, ""]
    lines += ["Splines are tried with all operations together only: each alone would take the model hours.", ""]
    lines += [
        "## The operations",
        "",
        "How many of the limb problems above each operation changes when it alone is rounded.",
        "",
    ]
    lines += ["| operation | problems |", "|---|---|"]
    lines += [f"| `{site.replace('|', chr(92) + '|')}` | {count} |" for site, count in sites.most_common()]
    (ROOT / "docs" / "spills.md").write_text(PAGE + "\n".join(lines) + "\n", encoding="utf-8")


def _row(name: str, found: dict[str, Any], *, singles: bool) -> str:
    one = found["changed_by_one_spill"] if singles else "-"
    return f"| {name} | {found['problems']} | {found['stable']} | {one} | {found['changed_by_all_together']} |"


def _vector_problems(vectors: Path) -> Iterator[tuple[str, Sequence[Problem], bool]]:
    for path in (vectors / "kernel" / "limb.solve.jsonl", *sorted((vectors / "max-export").glob("limb*.jsonl"))):
        problems = solve_problems(read_vectors(path))
        if problems:
            yield f"{path.parent.name}/{path.name}", problems, True
    for path in (vectors / "kernel" / "spline.solve.jsonl", vectors / "max-export" / "spline-solve.jsonl"):
        yield f"{path.parent.name}/{path.name}", solve_problems(read_vectors(path)), False


def _example_problems() -> Iterator[tuple[str, Sequence[Problem], bool]]:
    for example in ("walk", "snake"):
        scene = read_scene_json(ROOT / "examples" / f"{example}.scene.json")
        ticks, rate = sample_ticks(scene, BakeOptions(frames=(0, 29)))
        recorder = Recorder(make_engine(None, REFERENCE)[0])
        evaluate(scene, ticks, recorder, rate)
        limbs: list[Problem] = [take.problem(frame) for take in recorder.limbs for frame in range(take.frames)]
        if limbs:
            yield f"examples/{example}, {len(recorder.limbs)} limbs, 30 frames", limbs, True
        splines: list[Problem] = [problem for problems in recorder.splines for problem in problems[:6]]
        if splines:
            yield f"examples/{example}, {len(recorder.splines)} splines, 6 frames each", splines, False


if __name__ == "__main__":
    main()
