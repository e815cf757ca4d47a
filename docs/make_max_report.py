"""Writes docs/max-report.md: what the .max reader makes of every scene of the reference data, measured in this run.

.venv/bin/python docs/make_max_report.py [MAXFILES]        (default: ../shared/maxfiles)
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from exports import compare_all, recorded_hi_solution  # noqa: E402 - the path comes first
from maxik.bake import BakeOptions, bake_scene  # noqa: E402
from maxik.formats.max import read_max  # noqa: E402
from maxik.formats.max.cached import CachedValue, cached_values  # noqa: E402
from maxik.scene.scene import Scene  # noqa: E402

INTRODUCTION = """# What the .max reader makes of real scenes

Written by `make report` from one run over the reference scenes. Every number is measured there, none is entered by hand.

"""


def main() -> None:
    """Write the page."""
    maxfiles = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared" / "maxfiles"
    paths = sorted(maxfiles.glob("*.max"))
    scenes = {path.name: read_max(path) for path in paths}
    page = [*_cached(paths), *_exports(maxfiles), *_files(scenes), *_not_evaluated(scenes)]
    (ROOT / "docs" / "max-report.md").write_text(INTRODUCTION + "\n".join(page) + "\n", encoding="utf-8")
    print(f"docs/max-report.md: {len(scenes)} scenes")


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(str(cell) for cell in row)} |" for row in rows)
    yield ""


def _cached(paths: Sequence[Path]) -> Iterator[str]:
    yield "## Keyed tracks against the values that 3ds Max cached in them"
    yield ""
    yield "A keyed controller stores the value that 3ds Max last computed, and the time. maxik evaluates the keys at that time;"
    yield '"exact" means every float32 bit, the worst difference is absolute and as a share of the track\'s range.'
    yield ""
    found: dict[tuple[str, str], list[CachedValue]] = {}
    for path in paths:
        for value in cached_values(path):
            found.setdefault((value.class_name, value.place), []).append(value)
    rows = [
        (
            class_name,
            place,
            len(values),
            sum(value.exact for value in values),
            f"{max(value.error for value in values):.1e}",
            f"{max(value.share for value in values):.1e}",
        )
        for (class_name, place), values in sorted(found.items())
    ]
    yield from _table(("controller", "where the time lies", "tracks", "exact", "worst", "of the range"), rows)
    yield "No cached value lies outside its keys, so how 3ds Max goes on there is not settled by them; the exports below do go"
    yield "past the last key (RiggedFigure, 60 frames) and hold the end value, as maxik does."
    yield ""


def _exports(maxfiles: Path) -> Iterator[str]:
    yield "## Against 3ds Max's own exports of the same scenes"
    yield ""
    yield "Positions in scene units, rotations as elements of the rotation matrix. ASE and .babylon write four decimals, and"
    yield "ASE rotations are turns since the sample before, whose rounding adds up; glTF writes float32. AnimatedSpotlights was"
    yield "exported before its last save: with the lengths of its middle keys unset, as their sister tracks still have them,"
    yield "its rotations agree within 3e-7."
    yield ""
    rows = [
        (
            entry.scene.removesuffix(".max"),
            entry.export.rsplit(".", 1)[-1],
            entry.what,
            len(entry.nodes),
            entry.samples,
            f"{entry.position:.1e} (≤ {entry.tolerance[0]:.1e})",
            f"{entry.rotation:.1e} (≤ {entry.tolerance[1]:.1e})",
        )
        for entry in compare_all(maxfiles)
    ]
    yield from _table(("scene", "export", "compared", "nodes", "samples", "worst position", "worst rotation"), rows)
    end, goal = recorded_hi_solution(maxfiles)
    miss = ((end - goal) ** 2).sum(axis=1) ** 0.5
    yield "bones_02's planes hold an HI solution that 3ds Max recorded: with the bones' own positions it ends"
    yield f"{miss[0]:.3f} units from the goal at frame 0 and at most {miss[1:].max():.4f} at the other {len(miss) - 1} frames."
    yield ""


def _files(scenes: dict[str, Scene]) -> Iterator[str]:
    yield "## The scenes"
    yield ""
    yield 'Each is baked over its whole range. "Held" counts nodes with a part that is not evaluated, "resting" those below or'
    yield "otherwise dependent on them, and the joints of chains that are not solved."
    yield ""
    rows = []
    for name, scene in scenes.items():
        _, certificate = bake_scene(scene, BakeOptions(skip_unsupported=True))
        held = {notice.node for notice in scene.notices if notice.kind == "unsupported"}
        rows.append((
            name,
            scene.source.get("version", ""),
            len(scene.nodes),
            certificate["range"]["frames"],
            len(certificate["chains"]),
            len(certificate["chains_not_solved"]),
            len(held),
            len(certificate["resting_on_held"]),
            sum(notice.kind == "assumed" for notice in scene.notices),
        ))  # fmt: skip
    head = ("file", "written by", "nodes", "frames", "chains solved", "not solved", "held", "resting", "assumptions")
    yield from _table(head, rows)


def _not_evaluated(scenes: dict[str, Scene]) -> Iterator[str]:
    yield "## What is not evaluated, or rests on an assumption"
    yield ""
    yield "As `maxik inspect` and the certificate name them, node by node; here by class over all scenes."
    yield ""
    counts: Counter[tuple[str, str, str]] = Counter()
    for scene in scenes.values():
        counts.update((notice.kind, notice.class_name, notice.what) for notice in scene.notices)
    rows = [(kind, class_name, what, count) for (kind, class_name, what), count in sorted(counts.items(), reverse=True)]
    yield from _table(("kind", "class", "what", "times"), rows)


if __name__ == "__main__":
    main()
