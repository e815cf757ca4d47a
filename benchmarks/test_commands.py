"""Whole commands and loading: start-up of the command line, reading a .max file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from maxik.formats.load import load_scene

SCENE = Path(__file__).resolve().parents[2] / "shared" / "maxfiles" / "davestewart-maxscript__character.max"
needs_scene = pytest.mark.skipif(not SCENE.is_file(), reason="the reference data are not there")


@pytest.mark.benchmark(group="start-up")
@pytest.mark.parametrize("arguments", [("-c", "pass"), ("-c", "import maxik"), ("-m", "maxik", "--help")], ids=" ".join)
def test_start_up(benchmark: BenchmarkFixture, arguments: tuple[str, ...]) -> None:
    command = [sys.executable, *arguments]
    benchmark.pedantic(subprocess.run, (command,), {"check": True, "stdout": subprocess.DEVNULL}, rounds=15, warmup_rounds=2)


@needs_scene
@pytest.mark.benchmark(group="a scene of 1.2 MB")
def test_load(benchmark: BenchmarkFixture) -> None:
    assert benchmark.pedantic(load_scene, (SCENE,), rounds=15, warmup_rounds=1).chains


@needs_scene
@pytest.mark.benchmark(group="a scene of 1.2 MB")
def test_bake_command(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    output = str(tmp_path / "character.glb")
    command = [sys.executable, "-m", "maxik", "bake", str(SCENE), "-o", output, "--skip-unsupported"]
    benchmark.pedantic(subprocess.run, (command,), {"check": True, "stdout": subprocess.DEVNULL}, rounds=5, warmup_rounds=1)
