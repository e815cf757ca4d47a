"""NEON: the lanes of 64-bit ARM have the scalar path's bits, run by an emulator."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from maxik.kernel.build_kernel import LANES, compile_flags
from maxik.oracle.exhaust import LANE_FUNCTIONS

KERNEL = Path(__file__).resolve().parents[2] / "kernel"
COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"


@pytest.fixture(scope="module", params=["x87_53", "sse_32"])
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    missing = [name for name in (COMPILER, EMULATOR) if shutil.which(name) is None]
    if missing:
        message = f"{missing[0]} is not installed (Debian: gcc-aarch64-linux-gnu, qemu-user)"
        if os.environ.get("MAXIK_REQUIRE_AARCH64"):
            pytest.fail(message)
        pytest.skip(message)
    out = tmp_path_factory.mktemp("neon") / "exhaust_lanes"
    units = [str(KERNEL / f"{unit}.c") for unit in LANES if request.param in unit]
    environment = ["-DMAXIK_SSE_32="] if request.param == "sse_32" else []
    flags = [*compile_flags(), "-static", "-Wall", "-Wextra", "-Werror", "-DMAXIK_WITH_LANES"]
    command = [COMPILER, *flags, *environment, str(KERNEL / "exhaust_lanes_main.c"), *units, "-o", str(out), "-lm"]
    subprocess.run(command, check=True)
    return out


def run(program: Path, *arguments: str) -> tuple[int, int, int]:
    """Return what the program counted: checked, in doubt, wrong."""
    ran = subprocess.run([EMULATOR, str(program), *arguments], check=True, capture_output=True, text=True)
    checked, in_doubt, wrong = map(int, ran.stdout.split()[-3:])
    return checked, in_doubt, wrong


def test_whole_solves(program: Path) -> None:
    checked, in_doubt, wrong = run(program, "limb", "3", "60000")
    assert checked >= 120_000  # scalar and NEON
    assert in_doubt < checked // 100
    assert wrong == 0


@pytest.mark.parametrize("function", LANE_FUNCTIONS)
def test_functions(program: Path, function: str) -> None:
    for first in (0x00000000, 0x3EFFC000, 0x3F7FC000, 0x80000000, 0xC0490000):
        checked, _, wrong = run(program, function, f"{first:x}", f"{first + 0x7FFF:x}")
        assert (checked, wrong) == (0x8000, 0)


def test_atan2(program: Path) -> None:
    checked, in_doubt, wrong = run(program, "atan2", "5", "200000")
    assert checked >= 200_000
    assert in_doubt < checked // 10
    assert wrong == 0
