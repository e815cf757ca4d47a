"""Writes docs/discriminating.md: for every item the inputs that tell its candidates apart, in both environments."""

from __future__ import annotations

from pathlib import Path

from maxik.characterise.discriminate import UNSEEN, Asked, Discrimination, discriminate
from maxik.characterise.discriminate_report import numbers
from maxik.characterise.maxscript import can_ask
from maxik.profile import ENVIRONMENT_IDS, ITEMS, candidates_in

HERE = Path(__file__).resolve().parent

HEAD = """\
# Inputs that tell candidates apart

Written by `make report` from a run of `maxik discriminate` over all items. For each item: the fewest inputs on which all its
candidates differ in some bit, the nicest ones found in a fixed order (small decimals and whole degrees first), then the input
on which each candidate is farthest from the default, which even rounded data may show: near the gimbal for matrix3.to_euler, a
zero length for point3.zero_length, and so on. A float32 stands with its bits. Candidates between bars give the same bits.
[characterise.md](characterise.md) is the way from here to a pinned item.
"""


def operands(entry: Asked) -> list[str]:
    """Return the operands of an input, a line each or four for a matrix."""
    lines = []
    for name, value in entry.operands.items():
        first, *rest = numbers(value).splitlines()
        lines += [f"{name} = {first}", *(f"    {line}" for line in rest)]
    return lines


def section(found: Discrimination) -> list[str]:
    """Return the section of an item in one environment."""
    lines = [f"### {found.environment}", ""]
    for number, entry in enumerate(found.inputs, start=1):
        groups = " | ".join(", ".join(group) for group in entry.groups)
        lines += [f"Input {number}: {groups}", "", *(f"    {line}" for line in operands(entry)), ""]
    for entry in found.widest:
        if entry.asked not in found.inputs:
            lines += [f"Farthest for {entry.candidate} ({entry.difference:.2g}):", ""]
            lines += [*(f"    {line}" for line in operands(entry.asked)), ""]
    lines += [f"Not separated by {found.tried} inputs: {a} and {b}." for a, b in found.alike]
    return [*lines, ""] if found.alike else lines


def main() -> None:
    """Write the page."""
    lines = [HEAD]
    for item in ITEMS:
        if item in UNSEEN:
            lines += [f"## {item}", "", f"Not asked by itself: {UNSEEN[item]}.", ""]
            continue
        runs = [discriminate(item, environment) for environment in ENVIRONMENT_IDS if len(candidates_in(item, environment)) > 1]
        if not runs:
            continue
        script = "has an expression for it" if can_ask(runs[0].asked) else "has no expression for it"
        note = f" {runs[0].note[0].upper()}{runs[0].note[1:]}." if runs[0].note else ""
        lines += [f"## {item}", "", f"Asked of `{runs[0].asked}`; MAXScript {script}.{note}", ""]
        sections = [section(run) for run in runs]
        if len(sections) == len(ENVIRONMENT_IDS) and sections[0][1:] == sections[1][1:]:
            sections = [["### both environments", *sections[0][1:]]]
        lines += [line for part in sections for line in part]
    (HERE / "discriminating.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
