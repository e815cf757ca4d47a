"""The ledger says nothing that the suite does not show: every piece of evidence is run again here."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import pytest

from maxik.characterise.closure import Closure, closure
from maxik.characterise.ledger import CRT, PINNED, STATUSES, Entry, Evidence, counts, ledger
from maxik.characterise.workbench import (
    FITS_WITH_OTHERS,
    NO_OTHER,
    REFUTED,
    CandidateResult,
    Characterisation,
    Options,
    characterise,
)
from maxik.engines import make_engine
from maxik.profile import ITEMS, PROFILES, CoreProfile, candidates_in
from maxik.vectors import read_vectors
from maxik.verify import verify_files

PROFILE_IN = {"x87-53": PROFILES["candidate-1"], "sse-32": PROFILES["max-2016-x64"]}
ENTRIES = [entry for profile in PROFILE_IN.values() for entry in ledger(profile)]
FROM_VECTORS = [
    pytest.param(entry, piece, id=f"{entry.item}-{entry.environment}-{place}")
    for entry in ENTRIES
    for place, piece in enumerate(entry.evidence)
    if piece.files and not piece.noise and entry.item != CRT
]
CLOSURE_COLUMNS = {"quat.product": "product", "ik.initial_plane": "plane_pose"}


def vector_files(shared: Path, patterns: Iterable[str]) -> tuple[str, ...]:
    files = [path for pattern in patterns for path in sorted((shared / "vectors").glob(pattern))]
    assert files
    return tuple(map(str, files))


@lru_cache
def run(files: tuple[str, ...], items: tuple[str, ...] | None, environment: str) -> Characterisation:
    return characterise(files, Options(items=items, environments=(environment,)))


def results(files: tuple[str, ...], entry: Entry, piece: Evidence) -> dict[str, CandidateResult]:
    """Characterise with the items that have evidence in these files, or with all where other items can save a candidate."""
    sharing = tuple(
        other.item
        for other in ENTRIES
        if other.environment == entry.environment and any(found.files == piece.files for found in other.evidence)
    )
    with_others = any(
        found.saved_by_others for other in ENTRIES for found in other.evidence if found.files == piece.files and not found.noise
    )
    result = run(files, None if with_others else sharing, entry.environment)
    item = next(found for found in result.items if found.item == entry.item)
    assert result.pins
    return {candidate.candidate: candidate for candidate in item.candidates}


@pytest.mark.shared
@pytest.mark.parametrize(("entry", "piece"), FROM_VECTORS)
def test_vectors_refute_what_the_ledger_says_and_nothing_else(entry: Entry, piece: Evidence, shared: Path) -> None:
    found = results(vector_files(shared, piece.files), entry, piece)
    there = candidates_in(entry.item, entry.environment)
    assert {name for name in there if found[name].verdict == REFUTED} == set(piece.refutes)
    assert {name for name in there if found[name].verdict == FITS_WITH_OTHERS} == set(piece.saved_by_others)


@pytest.mark.shared
def test_the_c_runtime_is_matched_by_every_case_of_msvcr90(shared: Path) -> None:
    for entry in ENTRIES:
        if entry.item != CRT:
            continue
        (piece,) = entry.evidence
        files = vector_files(shared, piece.files)
        kinds = [read_vectors(path).header["provenance"]["kind"] for path in files]
        assert piece.provenance == "msvcr90"
        assert "msvcr90" in kinds
        report = verify_files(files, make_engine("model", PROFILE_IN[entry.environment])[0])
        assert (report.failed, report.skipped) == (0, 0)
        assert report.passed > 1000


@pytest.mark.shared
def test_evidence_comes_from_where_it_says(shared: Path) -> None:
    for entry in ENTRIES:
        for piece in entry.evidence:
            if not piece.files:
                assert piece.closure
                continue
            kinds = {read_vectors(path).header["provenance"]["kind"] for path in vector_files(shared, piece.files)}
            assert piece.provenance in kinds
            assert kinds <= {"max-export", "msvcr90", "analytic"}
            assert kinds == {piece.provenance} or entry.item == CRT


def test_pinned_is_what_vectors_of_the_reference_refute_others_for() -> None:
    for entry in ENTRIES:
        if entry.status == PINNED and entry.item != CRT:
            by_vectors = [piece for piece in entry.evidence if piece.provenance in ("max-export", "msvcr90") and piece.refutes]
            assert by_vectors, entry.item
            assert all(piece.environment == entry.environment for piece in by_vectors)


def test_closure_refutes_what_the_ledger_says() -> None:
    rows = closure()
    for entry in ENTRIES:
        for piece in entry.evidence:
            if piece.closure:
                assert f"{sum(row.closes for row in rows)} of {len(rows)}" in piece.counts
                assert all(fails(rows, entry.item, candidate) for candidate in piece.refutes)


def fails(rows: Iterable[Closure], item: str, candidate: str) -> bool:
    return not any(row.closes for row in rows if getattr(row, CLOSURE_COLUMNS[item]) == candidate)


def test_every_item_has_a_status_in_every_environment_and_a_reason() -> None:
    for profile in PROFILES.values():
        entries = ledger(profile)
        assert [entry.item for entry in entries] == [CRT, *ITEMS]
        assert all(entry.status in STATUSES and set(entry.statuses) == set(PROFILE_IN) and entry.says for entry in entries)
        assert sum(counts(entries).values()) == len(ITEMS)


def test_nothing_of_the_32_bit_reference_is_pinned_but_its_runtime() -> None:
    assert {entry.item for entry in ledger(PROFILES["candidate-1"]) if entry.status == PINNED} == {CRT}


def test_evidence_of_one_environment_says_nothing_in_another() -> None:
    assert all(piece.environment in ("", entry.environment) for entry in ENTRIES for piece in entry.evidence)


def test_a_candidate_that_is_not_the_default_is_open() -> None:
    profile = PROFILES["max-2016-x64"].with_candidate("point3.normalize", "length-divide")
    entry = next(entry for entry in ledger(profile) if entry.item == "point3.normalize")
    assert (entry.candidate, entry.status, entry.evidence) == ("length-divide", "candidate", ())


def test_candidates_of_the_x87_are_none_of_64_bit_releases() -> None:
    for item in ITEMS:
        assert "x87-fsincos" not in candidates_in(item, "sse-32")
        assert set(candidates_in(item, "x87-53")) == set(ITEMS[item])
    assert NO_OTHER not in STATUSES
    assert isinstance(PROFILES["candidate-1"], CoreProfile)
