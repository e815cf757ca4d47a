"""Frozen hashes: this compiler, this CPU, this C library give the bits that are on record."""

from __future__ import annotations

import hashlib
import tomllib
from importlib.resources import files

import pytest

from maxik.cli import main
from maxik.kernel.choices import LEAP, LITERAL
from maxik.kernel.engine import KernelEngine, is_built
from maxik.kernel.settings import KernelSettings
from maxik.model.engine import ModelEngine
from maxik.profile import PROFILES
from maxik.solutions import limb_bits
from maxik.verify import frozen, limb_problems


@pytest.mark.skipif(not is_built(), reason="the compiled kernel is not there")
@pytest.mark.parametrize("march", [LEAP, LITERAL])
@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_the_kernel_has_the_frozen_bits(profile: str, march: str) -> None:
    results = frozen.check_frozen(KernelEngine(PROFILES[profile], KernelSettings(march)))
    assert len(results) >= 19
    assert [result for result in results if not result.agrees] == []


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_the_model_has_the_frozen_bits_of_the_limb(profile: str) -> None:
    """Splines take the model too long here; the gate compares them."""
    table = tomllib.loads(files("maxik.verify").joinpath("frozen.toml").read_text(encoding="utf-8"))
    model = ModelEngine(PROFILES[profile])
    for kind, wanted in table[model.profile.environment]["limb"].items():
        digest = hashlib.sha256()
        for seed in range(frozen.LIMBS):
            digest.update(limb_bits(model.solve_limb(limb_problems.make_problem(kind, seed))))
        assert digest.hexdigest() == wanted, kind


@pytest.mark.skipif(not is_built(), reason="the compiled kernel is not there")
def test_other_bits_are_seen(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "--frozen"]) == 0
    assert "19 agree, 0 differ" in capsys.readouterr().out
    monkeypatch.setattr(frozen, "LIMBS", frozen.LIMBS - 1)
    assert main(["verify", "--frozen"]) == 1
    assert "other bits" in capsys.readouterr().out
