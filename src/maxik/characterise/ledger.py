"""The ledger as data: for each [CORE] item, how well its default candidate is known, per environment, and from what."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files

from maxik.profile import ITEMS, CoreProfile

STATUSES = ("normative", "documented", "logic", "pinned", "candidate", "contradicted")
CRT = "crt"
"""The C runtime's functions: no [CORE] item, but what everything rests on."""


@dataclass(frozen=True)
class Entry:
    """One line of the ledger: `item`, the candidate in use, its status in the profile's environment, the evidence."""

    item: str
    candidate: str
    status: str
    evidence: str


def ledger(profile: CoreProfile) -> tuple[Entry, ...]:
    """Return the ledger under `profile`; a candidate that is not the default is "candidate", whatever the default's status."""
    table = tomllib.loads(files(__package__).joinpath("ledger.toml").read_text(encoding="utf-8"))
    column = {"x87-53": "x87", "sse-32": "sse"}[profile.environment]
    entries = [Entry(CRT, "binary64-rounded", table[CRT][column], table[CRT]["evidence"])]
    for item, candidates in ITEMS.items():
        candidate = profile[item]
        if candidate == candidates[0]:
            entries.append(Entry(item, candidate, table[item][column], table[item]["evidence"]))
        else:
            entries.append(Entry(item, candidate, "candidate", "chosen by the profile; not the default"))
    return tuple(entries)
