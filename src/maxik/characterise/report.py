"""The result of a characterisation, and of closure, as text, JSON and HTML."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from maxik.characterise.closure import LIMBS, Closure
from maxik.characterise.layout import Table, html_page, text_table
from maxik.characterise.noise import NoiseTest
from maxik.characterise.trials import NO_ROTATION
from maxik.characterise.workbench import (
    ABSENT,
    BEST,
    CANNOT_TELL,
    FITS_WITH_OTHERS,
    NO_OTHER,
    NOT_SEEN,
    REFUTED,
    CandidateResult,
    Characterisation,
    ItemResult,
    Score,
)

JSON_FORMAT = "maxik-characterise/1"
CLOSURE_FORMAT = "maxik-closure/1"
_SHOWN_CLOSURES = 12


def render(result: Characterisation) -> str:
    """Return what was tried, a table of items, one of their candidates, the noise test, and what it proves."""
    parts = [*_introduction(result), *map(text_table, _tables(result)), _conclusion(result)]
    return "\n\n".join(parts)


def to_json(result: Characterisation) -> str:
    """Return the result as JSON, format "maxik-characterise/1": the fields of Characterisation."""
    return json.dumps({"format": JSON_FORMAT, **asdict(result)}, indent=2, ensure_ascii=False)


def to_html(result: Characterisation) -> str:
    """Return the result as a page."""
    return html_page("Characterisation", [*_introduction(result), *_tables(result), _conclusion(result)])


def render_closure(rows: Sequence[Closure]) -> str:
    """Return the combinations of conventions that close, and the nearest that do not, as text."""
    return "\n\n".join([text_table(_closure_table(rows)), _closes(rows)])


def closure_to_json(rows: Sequence[Closure]) -> str:
    """Return all combinations as JSON, format "maxik-closure/1"."""
    entries = [{**asdict(row), "closes": row.closes} for row in rows]
    return json.dumps({"format": CLOSURE_FORMAT, "limbs": LIMBS, "combinations": entries}, indent=2, ensure_ascii=False)


def closure_to_html(rows: Sequence[Closure]) -> str:
    """Return the table of closure as a page."""
    return html_page("Closure", [_closure_table(rows), _closes(rows)])


def _introduction(result: Characterisation) -> list[str]:
    lines = list(result.sources)
    lines += [f"left out, since no engine evaluates it: {number} cases of {item}" for item, number in result.left_out.items()]
    how = "all combinations of the candidates that show" if result.exact else "a descent"
    lines.append(
        f"{result.cases} cases, {result.trials} of them different; {result.profiles} profiles tried; combinations on "
        f"{result.decisive} cases that decide: {how}"
    )
    lines.append(f"best profile: {result.best.profile}")
    return ["\n".join(lines)]


def _tables(result: Characterisation) -> list[Table]:
    seen = [item for item in result.items if item.verdict not in (NOT_SEEN, NO_OTHER)]
    tables = [_items_table(result)] if result.items else []
    if seen:
        tables.append(_candidates_table(seen, result.best))
    if result.noise is not None:
        tables.append(_noise_table(result.noise))
    return tables


def _items_table(result: Characterisation) -> Table:
    rows, marks = [], []
    for item in result.items:
        refuted = [entry.candidate for entry in item.candidates if entry.verdict == REFUTED]
        rows.append((item.item, item.verdict, ", ".join(_surviving(item)), ", ".join(refuted)))
        marks.append("open" if item.verdict in (NOT_SEEN, NO_OTHER) else "fair" if item.verdict == CANNOT_TELL else "good")
    return Table("Items", ("item", "verdict", "left", "refuted"), rows, marks=marks)


def _surviving(item: ItemResult) -> list[str]:
    saved = {entry.candidate for entry in item.candidates if entry.verdict == FITS_WITH_OTHERS}
    return [f"({name})" if name in saved else name for name in item.survivors]


def _candidates_table(items: Sequence[ItemResult], best: Score) -> Table:
    """Return a row a candidate; measures that no trial has are left out."""
    there = {"bits": best.compared, "beyond": best.worst, "worst": best.worst, "rms": best.rms}
    measures = [name for name, value in there.items() if value]
    rows, marks = [], []
    for item in items:
        for place, entry in enumerate(item.candidates):
            alone = {} if entry.alone is None else _measures(entry.alone)
            others = _with_others(entry) if entry.verdict in (REFUTED, FITS_WITH_OTHERS) else ""
            cells = (alone.get(name, "") for name in measures)
            rows.append(("" if place else item.item, entry.candidate, entry.verdict, *cells, others, entry.reason))
            marks.append(_mark(entry))
    columns = ("item", "candidate", "verdict", *measures, "with others changed too", "why")
    title = "Candidates, each in the best profile (bits right; trials beyond tolerance; worst in tolerances; rms in rad)"
    return Table(title, columns, rows, numbers=measures, marks=marks)


def _mark(entry: CandidateResult) -> str:
    if entry.verdict == BEST:
        return "good"
    return "bad" if entry.verdict == REFUTED else "open" if entry.verdict == ABSENT else "fair"


def _measures(score: Score) -> dict[str, str]:
    return {
        "bits": f"{score.right}/{score.compared}",
        "beyond": str(score.exceeded),
        "worst": "no result" if score.worst >= NO_ROTATION else f"{score.worst:.3g}",
        "rms": f"{score.rms:.2e}",
    }


def _with_others(entry: CandidateResult) -> str:
    if entry.with_others is None or entry.alone is None:
        return "not tried: too many"
    if entry.with_others.profile == entry.alone.profile:
        return "no change helps"
    there = entry.alone.profile.split(",")
    changes = [change for change in entry.with_others.profile.split(",") if change not in there]
    measures = _measures(entry.with_others)
    found = [measures[name] for name, shown in (("bits", entry.with_others.compared), ("rms", entry.with_others.rms)) if shown]
    return " ".join([*found, "with", ", ".join(changes)])


def _noise_table(noise: NoiseTest) -> Table:
    best = noise.rows[0].log_likelihood
    rows = [("seen", "", *(f"{number}" for number in noise.seen), "", "")]
    rows += [
        (
            row.candidate,
            row.environment,
            *(f"{number:.1f}" for number in row.expected),
            f"{row.log_likelihood:.1f}",
            f"{row.log_likelihood - best:.1f}",
        )
        for row in noise.rows
    ]
    numbers = ("n = 0", "1", "2", "3 or more", "log-likelihood", "against the best")
    title = (
        f"Acos noise of {noise.poses} poses: rest about the end-effector axis, sqrt(n) * 3.45267e-4 rad, "
        "for each normaliser used throughout"
    )
    return Table(title, ("normaliser", "environment", *numbers), rows, numbers=numbers)


def _conclusion(result: Characterisation) -> str:
    if not result.items:
        return "No [CORE] item with several candidates is consulted by these vectors."
    if result.pins:
        return (
            "The vectors come from the reference software: what they single out may be entered in the ledger as pinned "
            "(docs/characterise.md)."
        )
    return "Not every file was computed by the reference software: these vectors test implementations and pin nothing."


def _closure_table(rows: Sequence[Closure]) -> Table:
    shown = rows[:_SHOWN_CLOSURES]
    cells = [
        (
            "yes" if row.closes else "no",
            row.turn,
            row.euler,
            row.order,
            row.product,
            row.normal,
            row.plane_pose,
            f"{row.miss:.2g}",
            f"{row.plane:.2g}",
        )
        for row in shown
    ]
    numbers = ("miss / reach", "plane, rad")
    columns = ("closes", "RotAngleAxisMatrix", "MatrixToEuler of", "read as", "quat.product", "n0", "at", *numbers)
    title = f"Conventions tried on the limb solver, {LIMBS} limbs; the {len(shown)} nearest of {len(rows)} combinations"
    marks = ["good" if row.closes else "bad" for row in shown]
    return Table(title, columns, cells, numbers=numbers, marks=marks)


def _closes(rows: Sequence[Closure]) -> str:
    closing = sum(row.closes for row in rows)
    return f"{closing} of {len(rows)} combinations bring every wrist to its goal in the asked plane."
