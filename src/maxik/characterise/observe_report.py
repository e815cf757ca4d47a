"""What can be observed of rotations, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from maxik.characterise.layout import Table, text_table
from maxik.characterise.observe import CodeStep, FileSeen, code_steps
from maxik.profile import CoreProfile

JSON_FORMAT = "maxik-observable/1"
BELOW = "A component below 2^-16 always has code 0: its value and its sign are lost."
LIMITS = """\
Euler, raw, packed: cases that differ, as angles, as float32 quaternions (.skel, raw .anim, constant tracks), as 16-bit codes.
ULPs, rad: the largest difference of a rotation, in units of 2^-24 (512 are one code step) and as a turn; -: one has none.
A packed track is evidence only where codes differ; resampling and thinning (2.8 mrad) come on top and are not modelled."""


def render(profile: CoreProfile, files: Sequence[FileSeen]) -> str:
    """Return the table of ULPs per code step, then for each file a table of its candidates, counts being of cases."""
    parts = [text_table(_steps(code_steps())), BELOW]
    for file in files:
        parts += ["", text_table(_candidates(profile, file))]
    return "\n".join([*parts, LIMITS] if files else parts)


def to_json(profile: CoreProfile, files: Sequence[FileSeen]) -> str:
    """Return format "maxik-observable/1": the rows of `steps`, and `files` with their candidates, ids of cases and verdicts."""
    entries = [
        asdict(file) | {"candidates": [asdict(entry) | {"verdict": entry.verdict} for entry in file.candidates]}
        for file in files
    ]
    return json.dumps(
        {
            "format": JSON_FORMAT,
            "profile": str(profile),
            "steps": [asdict(row) for row in code_steps()],
            "files": entries,
        },
        indent=1,
        ensure_ascii=False,
        allow_nan=False,
    )


def _steps(rows: Sequence[CodeStep]) -> Table:
    columns = ("k", "magnitude", "ULP", "ULPs per step", "hidden", "1 ULP shows", "per step, normalised")
    cells = [
        [
            str(row.k),
            f"{row.low:.7g} - {row.high:.7g}",
            f"2^-{row.k + 24}",
            f"{row.ulps_per_step:.7g}",
            "-" if row.hidden is None else f"±{row.hidden}",
            f"{row.chance:.2e}",
            f"{row.effective_low:.7g} - {'all' if row.effective_high is None else f'{row.effective_high:.7g}'}",
        ]
        for row in rows
    ]
    return Table("ULPs of a component in one code of a packed track", columns, cells, numbers=columns)


def _candidates(profile: CoreProfile, file: FileSeen) -> Table:
    title = f"{Path(file.path).name} ({file.item}), {file.cases} cases, {file.rotations} rotations, against {profile}"
    columns = ("item", "candidate", "Euler", "raw", "packed", "ULPs", "rad", "verdict")
    cells = [
        [
            entry.item,
            entry.candidate,
            *(str(len(ids)) for ids in (entry.euler, entry.raw, entry.packed)),
            *(("-", "-") if entry.raw and not entry.turn else (f"{entry.ulps:.3g}", f"{entry.turn:.2g}")),
            entry.verdict,
        ]
        for entry in file.candidates
    ]
    return Table(title, columns, cells, numbers=columns[2:-1])
