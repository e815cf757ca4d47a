"""The ledger as data: for each [CORE] item, how well its default candidate is known, per environment, and from what."""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from maxik.profile import ENVIRONMENT_IDS, ITEMS, CoreProfile, candidates_in

NORMATIVE, DOCUMENTED, LOGIC, PINNED = "normative", "documented", "logic", "pinned"
CANDIDATE, CONTRADICTED = "candidate", "contradicted"
STATUSES = (NORMATIVE, DOCUMENTED, LOGIC, PINNED, CANDIDATE, CONTRADICTED)
"""What an item may rest on; ledger.toml says what each means."""
SETTLED = (NORMATIVE, DOCUMENTED, LOGIC)
"""Statuses of items that need no vectors."""
CRT = "crt"
"""The C runtime's functions: no [CORE] item, but what everything rests on."""
_CRT_CANDIDATE = "binary64-rounded"


@dataclass(frozen=True)
class Evidence:
    """One piece of evidence: vectors of `provenance` (max-export, msvcr90), as globs below a folder of vectors, or closure.

    `counts` says what they give, `date` when that was measured, `environment` which one they come from ("": any).
    `refutes`: candidates of the item that it refutes; `saved_by_others`: those that agree only when other items are
    changed as well. `noise`: by the statistics of noise (noise.py), which refutes nothing by itself.
    """

    counts: str
    date: dt.date
    environment: str = ""
    provenance: str = ""
    files: tuple[str, ...] = ()
    closure: bool = False
    noise: bool = False
    refutes: tuple[str, ...] = ()
    saved_by_others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """One line of the ledger: `item`, the candidate in use, its status in `environment`, the profile's, and why.

    `statuses`: the default's status in every environment. `says`: one sentence. `evidence`: what speaks in `environment`.
    """

    item: str
    candidate: str
    status: str
    statuses: Mapping[str, str]
    says: str
    evidence: tuple[Evidence, ...]

    environment: str

    @property
    def refuted(self) -> tuple[str, ...]:
        """Candidates that evidence refutes while the other items are as in the profile."""
        out = {candidate for piece in self.evidence for candidate in (*piece.refutes, *piece.saved_by_others)}
        return tuple(candidate for candidate in ITEMS.get(self.item, ()) if candidate in out)

    @property
    def not_told_apart(self) -> tuple[str, ...]:
        """Candidates of the environment, other than the one in use, that nothing refutes."""
        there = candidates_in(self.item, self.environment) if self.item in ITEMS else ()
        return tuple(candidate for candidate in there if candidate not in (self.candidate, *self.refuted))


def ledger(profile: CoreProfile) -> tuple[Entry, ...]:
    """Return the ledger under `profile`; a candidate that is not the default is "candidate", whatever the default's status."""
    table = tomllib.loads(files(__package__).joinpath("ledger.toml").read_text(encoding="utf-8"))
    return tuple(_entry(item, table[item], profile) for item in (CRT, *ITEMS))


def counts(entries: Iterable[Entry]) -> Mapping[str, int]:
    """Return how many items are pinned, settled (by logic, document or specification) and open, the C runtime not counted."""
    found = {"pinned": 0, "settled": 0, "open": 0}
    for entry in entries:
        if entry.item != CRT:
            found["pinned" if entry.status == PINNED else "settled" if entry.status in SETTLED else "open"] += 1
    return found


def _entry(item: str, row: Mapping[str, Any], profile: CoreProfile) -> Entry:
    statuses = {environment: row[environment] for environment in ENVIRONMENT_IDS}
    default = _CRT_CANDIDATE if item == CRT else ITEMS[item][0]
    candidate = default if item == CRT else profile[item]
    if candidate != default:
        return Entry(
            item, candidate, CANDIDATE, statuses, f"Chosen by the profile; the default is {default}", (), profile.environment
        )
    evidence = tuple(map(_evidence, row.get("evidence", ())))
    kept = tuple(entry for entry in evidence if entry.environment in ("", profile.environment))
    return Entry(item, candidate, statuses[profile.environment], statuses, row["says"], kept, profile.environment)


def _evidence(row: Mapping[str, Any]) -> Evidence:
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in row.items()}
    return Evidence(**values)
