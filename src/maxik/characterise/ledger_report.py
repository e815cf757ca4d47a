"""The ledger as a progress report: text, JSON (format maxik-core/1), a page of HTML."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from maxik.characterise.layout import Table, html_bar, html_page, text_table
from maxik.characterise.ledger import CRT, PINNED, SETTLED, Entry, Evidence, counts, ledger
from maxik.profile import ITEMS, CoreProfile

JSON_FORMAT = "maxik-core/1"
_COLUMNS = ("item", "candidate", "status", "not told from", "what it rests on")


def render(profile: CoreProfile) -> str:
    """Return a table of pinned, settled and open items with their evidence, and as last line the counts."""
    entries = ledger(profile)
    groups = [(title, group) for title, group in _groups(entries) if group]
    tables = [text_table(Table(title, _COLUMNS, [_row(entry) for entry in group])) for title, group in groups]
    return "\n\n".join([_title(profile), *tables, _summary(entries)])


def to_json(profile: CoreProfile) -> str:
    """Return the ledger as JSON: profile, environment, counts, and every item with candidates, statuses and evidence."""
    entries = ledger(profile)
    return json.dumps(
        {
            "format": JSON_FORMAT,
            "profile": str(profile),
            "environment": profile.environment,
            "counts": counts(entries),
            "items": [
                {
                    "item": entry.item,
                    "candidate": entry.candidate,
                    "candidates": ITEMS.get(entry.item, (entry.candidate,)),
                    "status": entry.status,
                    "statuses": entry.statuses,
                    "not_told_apart": entry.not_told_apart,
                    "says": entry.says,
                    "evidence": [asdict(piece) for piece in entry.evidence],
                }
                for entry in entries
            ],
        },
        indent=2,
        ensure_ascii=False,
        default=str,
    )


def to_html(profile: CoreProfile) -> str:
    """Return the ledger as a page."""
    entries = ledger(profile)
    found = counts(entries)
    bar = html_bar([("good", found["pinned"]), ("fair", found["settled"]), ("open", found["open"])])
    tables = [
        Table(title, _COLUMNS, [_row(entry) for entry in group], marks=[_mark(entry) for entry in group])
        for title, group in _groups(entries)
        if group
    ]
    return html_page(_title(profile), [bar, _summary(entries), *tables])


def _title(profile: CoreProfile) -> str:
    return f"The core profile {profile}, environment {profile.environment}"


def _groups(entries: Sequence[Entry]) -> list[tuple[str, list[Entry]]]:
    return [
        ("Pinned: singled out by vectors of the reference", [entry for entry in entries if entry.status == PINNED]),
        ("Settled without vectors", [entry for entry in entries if entry.status in SETTLED]),
        ("Open", [entry for entry in entries if entry.status != PINNED and entry.status not in SETTLED]),
    ]


def _row(entry: Entry) -> tuple[str, ...]:
    return (
        entry.item,
        entry.candidate,
        entry.status,
        ", ".join(entry.not_told_apart),
        "\n".join([entry.says, *map(_told, entry.evidence)]),
    )


def _told(piece: Evidence) -> str:
    source = "closure" if piece.closure else ", ".join(piece.files)
    return f"{source} ({piece.date}): {piece.counts}"


def _mark(entry: Entry) -> str:
    if entry.status == PINNED:
        return "good"
    if entry.status in SETTLED:
        return "fair"
    return "bad" if entry.status == "contradicted" else "open"


def _summary(entries: Sequence[Entry]) -> str:
    found = counts(entries)
    runtime = next(entry for entry in entries if entry.item == CRT)
    return (
        f"{sum(found.values())} items: {found['pinned']} pinned, {found['settled']} settled by logic or documents, "
        f"{found['open']} open; the C runtime is {runtime.status}"
    )
