"""Writes docs/discriminating.md: for every item the inputs that tell its candidates apart, in both environments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from maxik.characterise.discriminate import UNSEEN, Asked, Discrimination, Widest, discriminate
from maxik.characterise.discriminate_report import numbers
from maxik.characterise.maxscript import can_ask, reach
from maxik.profile import ENVIRONMENT_IDS, ITEMS, candidates_in
from maxik.vectors import LIMB_SOLVE, SPLINE_SOLVE
from maxik.verify.spline_problems import IDENTITY

HERE = Path(__file__).resolve().parent

HEAD = """\
# Inputs that tell candidates apart

Written by `make report` from a run of `maxik discriminate` over all items. For each item: the fewest of the inputs tried on
which all its candidates differ in some bit, the nicest first (small decimals, whole degrees), then the
input on which each candidate is farthest from the default, which even rounded data may show: near the gimbal for
matrix3.to_euler, a zero length for point3.zero_length, and so on. A float32 stands with its bits. Candidates between bars give
the same bits.
What no script reaches needs a plug-in that calls the function. No script has been run inside 3ds Max.
Of a whole solve, operands that are zero or the identity are left out; `maxik discriminate ITEM -o FILE.jsonl` writes all.
[characterise.md](characterise.md) is the way from here to a pinned item.
"""


def operands(entry: Asked) -> list[str]:
    """Return the operands of an input, a line each or more for matrices and whole solves."""
    solve = "zero_map" in entry.operands
    lines = []
    for name, value in entry.operands.items():
        if solve and value in (0.0, IDENTITY):
            continue
        first, *rest = numbers(value).splitlines()
        lines += [f"{name} = {first}", *(f"    {line}" for line in rest)]
    return [f"    {line}" for line in lines]


def farthest(found: Discrimination) -> list[str]:
    """Return the inputs on which candidates are farthest from the default, unless they are chosen already or whole solves."""
    if found.asked in (LIMB_SOLVE, SPLINE_SOLVE):
        return []
    shown: dict[int, list[Widest]] = {}
    for entry in found.widest:
        if entry.asked not in found.inputs:
            shown.setdefault(id(entry.asked), []).append(entry)
    lines = []
    for entries in shown.values():
        names = ", ".join(f"{entry.candidate} ({entry.difference:.2g})" for entry in entries)
        lines += [f"Farthest for {names}:", "", *operands(entries[0].asked), ""]
    return lines


def section(found: Discrimination) -> list[str]:
    """Return the section of an item in one environment."""
    lines = [f"### {found.environment}", ""]
    for number, entry in enumerate(found.inputs, start=1):
        groups = " | ".join(", ".join(group) for group in entry.groups)
        lines += [f"Input {number}: {groups}", "", *operands(entry), ""]
    lines += farthest(found)
    lines += [f"Not separated by {found.tried} inputs: {a} and {b}." for a, b in found.alike]
    return [*lines, ""] if found.alike else lines


def summary(runs: Mapping[str, Sequence[Discrimination]]) -> list[str]:
    """Return the table of all items: how many inputs separate the candidates, what is left, how a script asks."""
    lines = ["| item | candidates | inputs, x87-53 | inputs, sse-32 | not separated | MAXScript |", "|---|---|---|---|---|---|"]
    for item, found in runs.items():
        counts = {run.environment: str(len(run.inputs)) for run in found}
        left = "; ".join(f"{a} and {b} ({run.environment})" for run in found for a, b in run.alike)
        asked = "no" if not can_ask(item) else "a rig" if found[0].asked == LIMB_SOLVE else "yes"
        cells = (
            f"[{item}](#{item.replace('.', '')})",
            str(len(ITEMS[item])),
            *(counts.get(e, "one candidate") for e in ENVIRONMENT_IDS),
        )
        lines.append(f"| {' | '.join(cells)} | {left} | {asked} |")
    return [*lines, ""]


def main() -> None:
    """Write the page."""
    runs = {
        item: [discriminate(item, environment) for environment in ENVIRONMENT_IDS if len(candidates_in(item, environment)) > 1]
        for item in ITEMS
        if item not in UNSEEN and len(ITEMS[item]) > 1
    }
    lines = [HEAD, *summary(runs)]
    lines += [line for item, why in UNSEEN.items() for line in (f"`{item}` cannot be asked by itself: {why}.", "")]
    for item, found in runs.items():
        note = f" {found[0].note[0].upper()}{found[0].note[1:]}." if found[0].note else ""
        lines += [f"## {item}", "", f"Asked of `{found[0].asked}`; {reach(item)}.{note}", ""]
        sections = [section(run) for run in found]
        if len(sections) == len(ENVIRONMENT_IDS) and sections[0][1:] == sections[1][1:]:
            sections = [["### both environments", *sections[0][1:]]]
        lines += [line for part in sections for line in part]
    (HERE / "discriminating.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
