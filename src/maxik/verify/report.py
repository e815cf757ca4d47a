"""The result of a verification as text and as JSON."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from pathlib import Path

from maxik.verify.check import VerifyReport

JSON_FORMAT = "maxik-verify/1"
SHOWN = 5
"""Mismatches shown a file."""


def render(report: VerifyReport) -> str:
    """Return a table of files, the first mismatches of each, and as last line "N passed, M failed"."""
    from rich.console import Console  # noqa: PLC0415 - heavy imports are lazy
    from rich.table import Table  # noqa: PLC0415 - heavy imports are lazy

    engine = report.engine
    table = Table(
        "file", "item", "compared", title=f"{engine.get('engine')} {engine.get('environment')} {engine.get('profile')}"
    )
    for column in ("passed", "failed", "skipped"):
        table.add_column(column, justify="right")
    for entry in report.files:
        counts = (str(count) for count in (entry.passed, entry.failed, entry.skipped))
        table.add_row(Path(entry.path).name, entry.item, entry.comparison, *counts)
    text = io.StringIO()
    Console(file=text, width=120, color_system=None).print(table)
    lines = text.getvalue().rstrip("\n").splitlines()
    for entry in report.files:
        lines += _mismatches(entry.path, [asdict(failure) for failure in entry.failures])
    lines += [f"{Path(entry.path).name}: {entry.note}" for entry in report.files if entry.note]
    skipped: dict[str, int] = {}
    for entry in report.files:
        if entry.skipped:
            skipped[entry.item] = skipped.get(entry.item, 0) + entry.skipped
    lines += [f"skipped, since no engine evaluates it: {count} of {item}" for item, count in sorted(skipped.items())]
    lines.append(f"{report.passed} passed, {report.failed} failed")
    return "\n".join(lines)


def to_json(report: VerifyReport) -> str:
    """Return the report as JSON, format "maxik-verify/1": engine, files with counts and failures, totals."""
    return json.dumps(
        {
            "format": JSON_FORMAT,
            "engine": report.engine,
            "passed": report.passed,
            "failed": report.failed,
            "skipped": report.skipped,
            "files": [asdict(entry) for entry in report.files],
        },
        indent=2,
        ensure_ascii=False,
    )


def _mismatches(path: str, failures: list[dict[str, str]]) -> list[str]:
    if not failures:
        return []
    lines = [f"{path}: {len(failures)} failed"]
    for failure in failures[:SHOWN]:
        distance = f", {failure['distance']}" if failure["distance"] else ""
        lines.append(f"  {failure['case']}: {failure['output']} expected {failure['expected']}, got {failure['got']}{distance}")
    if len(failures) > SHOWN:
        lines.append(f"  and {len(failures) - SHOWN} more")
    return lines
