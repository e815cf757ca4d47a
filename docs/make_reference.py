"""Writes docs/commands.md from the parser, and docs/specification.md from the sections that code and tests name.

.venv/bin/python docs/make_reference.py
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from maxik.cli import make_parser

ROOT = Path(__file__).resolve().parents[1]
_SECTION = re.compile(r"\bspec(?:ification)?(?: sections?)? (\d(?:\.\d)?(?:(?:, | and | to )\d(?:\.\d)?)*)")
_TITLES = {
    "1.1": "Floating-point environment",
    "1.2": "The kernel oracle",
    "2.1": "acos_safe",
    "2.2": "MakeRowQuat",
    "2.3": "Quaternion-vector product, ApplyRowQuat",
    "2.4": "Matrix functions",
    "2.5": "Chain evaluation",
    "2.6": "Point3",
    "2.7": "Matrix3",
    "2.8": "Quat",
    "2.9": "Float math",
    "3": "Limb solver",
    "3.1": "Limb: initialisation",
    "3.2": "Limb: solve",
    "3.3": "One-joint chain",
    "4": "Spline IK solver",
    "4.1": "Spline: initialisation, bone tables",
    "4.2": "Spline: placing the first point",
    "4.3": "Spline: marching",
    "4.4": "Spline: frames, twist, write-back",
    "5": "What the solvers consume",
    "6": "Verification",
}


def commands() -> str:
    """Return the page of all commands with their help."""
    lines = ["# Commands", "", "Written by `docs/make_reference.py` from the parser: what `maxik COMMAND --help` says.", ""]
    for name, parser in parsers(make_parser()):
        lines += [f"## maxik {name}", "", "```text", parser.format_help().rstrip(), "```", ""]
    lines += [
        "Exit codes: 0 done, 1 a check failed or a file could not be baked, 2 wrong usage. Errors are one line on stderr:",
        "what, where (file, node, time), what to do. Output files appear whole or not at all.",
    ]
    return "\n".join(lines) + "\n"


def parsers(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield every command with its parser."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way to its commands
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - the same
            yield from action.choices.items()


def specification() -> str:
    """Return the map from the specification's sections to the files that name them."""
    places: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for kind, folder, pattern in (("kernel", "kernel", "*.[ch]"), ("python", "src/maxik", "**/*.py")):
        for path in sorted((ROOT / folder).glob(pattern)):
            for section in _sections(path.read_text(encoding="utf-8")):
                places[section][kind].add(path.relative_to(ROOT).as_posix())
    for path in sorted((ROOT / "tests").glob("**/test_*.py")):
        text = path.read_text(encoding="utf-8")
        named, modules = set(_sections(text)), _imported(text)
        for section, found in places.items():
            if section in named or modules & {name for name in found["python"] if "/model/" in name}:
                found["tests"].add(path.relative_to(ROOT).as_posix())
    lines = [
        "# Specification, code and tests",
        "",
        "Written by `docs/make_reference.py`: for each section of the behavioural specification the files that name it,",
        "and the tests that name it or import the model's part of it. kernel and model follow the specification expression by",
        "expression, each function with its section in a comment; they share no code. Every section is held by `make gate`",
        "too, and by the vector files.",
        "",
        "| section | kernel | Python | tests |",
        "|---|---|---|---|",
    ]
    for section, title in _TITLES.items():
        cells = ["<br>".join(sorted(places[section][kind])) for kind in ("kernel", "python", "tests")]
        lines.append(f"| {section} {title} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _sections(text: str) -> Iterator[str]:
    for match in _SECTION.finditer(text):
        yield from re.findall(r"\d(?:\.\d)?", match.group(1))


def _imported(text: str) -> set[str]:
    """Return the files of the model that a test imports."""
    names = set(re.findall(r"^from maxik\.model\.(\w+) import", text, re.MULTILINE))
    for line in re.findall(r"^from maxik\.model import (.+)$", text, re.MULTILINE):
        names |= {name.strip() for name in line.split(",")}
    return {f"src/maxik/model/{name}.py" for name in names - {"engine", "core"}}


def main() -> None:
    """Write both pages."""
    (ROOT / "docs" / "commands.md").write_text(commands(), encoding="utf-8")
    (ROOT / "docs" / "specification.md").write_text(specification(), encoding="utf-8")


if __name__ == "__main__":
    main()
