"""Register spills: what rounding an intermediate result changes, and that it is told truly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from maxik.bake import BakeOptions, bake_scene
from maxik.cli import main
from maxik.errors import UsageError
from maxik.model import limb
from maxik.model.core import core_of
from maxik.model.spill import ALL, Spills, site_name, spilling_core
from maxik.numerics.float32 import f32
from maxik.profile import PROFILES
from maxik.solutions import limb_bits
from maxik.spilling import spill, spill_many, summary
from maxik.verify import limb_problems
from rigs import limb_scene

REFERENCE = PROFILES["candidate-1"]


@pytest.mark.parametrize("kind", sorted(limb_problems.KINDS))
def test_registers_that_spill_nothing_change_nothing(kind: str) -> None:
    for seed in range(5):
        problem = limb_problems.make_problem(kind, seed)
        plain = limb_bits(limb.solve(core_of(REFERENCE), problem))
        assert limb_bits(limb.solve(spilling_core(REFERENCE, Spills()), problem)) == plain


def test_one_site_is_rounded_and_no_other() -> None:
    """1/3 has no float32: in a/3*3 + 1/3 the quotient alone, or the sum's part alone, is rounded."""

    def expression(spills: Spills) -> float:
        register = spilling_core(REFERENCE, spills).register
        return float(register(1.0) / 3.0 * 3.0 + 2.0**-60)

    met = Spills()
    exact = expression(met)
    assert exact == 1.0 / 3.0 * 3.0 + 2.0**-60
    quotient = next(iter(met.met))
    assert expression(Spills(frozenset({quotient}))) == f32(1.0 / 3.0) * 3.0 + 2.0**-60
    assert expression(Spills(frozenset({quotient}))) != exact
    assert expression(Spills(ALL)) == f32(f32(f32(1.0 / 3.0) * 3.0) + 2.0**-60)
    assert site_name(quotient) == f"test_spilling.py:{quotient[0].co_firstlineno + 2} expression: register(1.0) / 3.0"


def test_any_set_of_sites_is_spilled_together() -> None:
    """All sites that were met, given one by one, are the same as all."""
    problem = limb_problems.make_problem("plain", 3)
    met = Spills()
    limb.solve(spilling_core(REFERENCE, met), problem)
    solve = {name: limb_bits(limb.solve(spilling_core(REFERENCE, Spills(sites)), problem)) for name, sites in (
        ("all", ALL), ("each", frozenset(met.met)), ("half", frozenset(list(met.met)[::2])), ("none", frozenset()),
    )}  # fmt: skip
    assert solve["none"] == limb_bits(limb.solve(core_of(REFERENCE), problem))
    assert solve["half"] not in (solve["none"], solve["each"])
    assert solve["all"] == solve["each"]


def test_a_site_is_named_by_its_source() -> None:
    result = spill(REFERENCE, limb_problems.make_problem("plain", 0))
    assert result.tried > 100
    assert result.changing
    assert not result.stable
    for name in result.changing:
        place, operation = name.split(": ", 1)
        assert place.split(":")[0].endswith(".py")
        assert any(operator in operation for operator in "+-*/") or "divide" in operation


def test_a_summary_counts_problems_and_sites() -> None:
    problems = [limb_problems.make_problem("plain", seed) for seed in (0, 0, 1)]
    results = spill_many(REFERENCE, problems)
    assert results[0] == results[1]
    told = summary(results)
    assert told["problems"] == 3
    assert told["stable"] + sum(not result.stable for result in results) == 3
    assert sum(entry["problems"] for entry in told["sites"]) == sum(len(result.changing) for result in results)
    only_all = spill(REFERENCE, problems[0], singles=False)
    assert (only_all.tried, only_all.changing, only_all.all_change) == (0, (), results[0].all_change)


def test_registers_of_24_bits_have_nothing_to_spill() -> None:
    with pytest.raises(UsageError, match="nothing to spill"):
        spill(PROFILES["max-2016-x64"], limb_problems.make_problem("plain", 0))


def test_a_bake_reports_spills_without_changing_a_bit() -> None:
    scene = limb_scene()
    _, plain = bake_scene(scene, BakeOptions(frames=(0, 2)))
    _, spilled = bake_scene(scene, BakeOptions(frames=(0, 2), spill=True))
    assert plain["raw_output_sha256"] == spilled["raw_output_sha256"]
    assert "spill" not in plain
    (entry,) = spilled["spill"]
    assert entry["chain"] == "arm"
    assert entry["problems"] == 3
    assert len(entry["sensitive"]) == 3 - entry["stable"]
    json.dumps(spilled, allow_nan=False)


@pytest.mark.shared
def test_the_command_line_lists_the_sites(shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (shared / "vectors" / "kernel" / "limb.solve.jsonl").read_text(encoding="utf-8").splitlines()
    few = tmp_path / "limb.solve.jsonl"
    few.write_text("\n".join(lines[:3]) + "\n", encoding="utf-8")
    assert main(["verify", "--spill", str(few), "--report", str(tmp_path / "r.json")]) == 0
    printed = capsys.readouterr().out
    assert "of 2 stable" in printed
    assert ".py:" in printed
    assert json.loads((tmp_path / "r.json").read_text())[str(few)]["problems"] == 2
