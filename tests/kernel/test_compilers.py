"""The kernel's C files: strict C89, and the same bits at every optimisation level under the shipped flags.

The hazard is real: GCC 12 at -O3 without -fno-tree-vectorize packs two doubles and forgets that each was to be rounded
to float, which changes the last bits of half of all limb solves.
"""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from maxik.kernel.build_kernel import ENVIRONMENTS, LANES, compile_flags
from maxik.kernel.choices import LIMB_PATHS, LITERAL

KERNEL = Path(__file__).resolve().parents[2] / "kernel"
CC = shutil.which("cc")
pytestmark = [
    pytest.mark.skipif(CC is None, reason="no C compiler"),
    pytest.mark.skipif(sys.platform == "win32", reason="the flags of this test are those of gcc and clang"),
]
POINTERS = ("root_init_xyz", "root_extend", "links_init_zyx", "links_extend", "n0", "a0")


class Take(ctypes.Structure):
    """maxik_limb_take of kernel/limb_batch.h."""

    _fields_ = [
        ("first", ctypes.c_size_t),
        ("last", ctypes.c_size_t),
        ("link_count", ctypes.c_int),
        ("swivel", ctypes.c_int),
        *((name, ctypes.c_void_p) for name in POINTERS),
        *((f"{name}_stride", ctypes.c_size_t) for name in POINTERS),
        *((name, ctypes.c_void_p) for name in ("goal", "swivel_angle", "vh_target")),
        *((f"{name}_stride", ctypes.c_size_t) for name in ("goal", "swivel_angle", "vh_target")),
        ("path", ctypes.c_int),
        *((name, ctypes.c_void_p) for name in ("status", "rot_xyz", "dof_zyx")),
        ("redone", ctypes.c_size_t),
        ("kept", ctypes.c_void_p),
    ]


def solve(library: Path, environment: str, swivel: int, path: str = LITERAL) -> bytes:
    """Return the output bytes of 2,000 random limb solves by a build of the kernel, nothing where it lacks the path."""
    kernel = ctypes.CDLL(str(library))
    if not getattr(kernel, f"maxik_{environment}_has_path")(LIMB_PATHS[path]):
        return b""
    rng = np.random.default_rng(11)
    frames = 2000
    arrays = {name: rng.normal(size=(frames, 3)).astype(np.float32) * np.float32(2.0) for name in POINTERS}
    arrays["goal"] = rng.normal(size=(frames, 12)).astype(np.float32)
    arrays["swivel_angle"] = rng.normal(size=frames).astype(np.float32)
    arrays["vh_target"] = rng.normal(size=(frames, 3)).astype(np.float32)
    status = np.zeros(frames, np.uint8)
    angles = {"rot_xyz": np.zeros((frames, 3), np.float32), "dof_zyx": np.zeros((frames, 3), np.float32)}
    take = Take(last=frames, link_count=3, swivel=swivel, status=status.ctypes.data, path=LIMB_PATHS[path])
    for name, array in {**arrays, **angles}.items():
        setattr(take, name, array.ctypes.data)
        if name in arrays:
            setattr(take, f"{name}_stride", array[0].size)
    getattr(kernel, f"maxik_{environment}_limb_solve_take")(ctypes.byref(take))
    assert np.isfinite(angles["rot_xyz"]).all()
    return angles["rot_xyz"].tobytes() + angles["dof_zyx"].tobytes()


def build(environment: str, flags: list[str], out: Path, *, lanes: bool = False, compiler: str | None = CC) -> Path:
    assert compiler is not None
    units = [f"unit_{environment}", *(unit for unit in LANES if lanes and environment in unit)]
    flags = [*flags, *(["-DMAXIK_WITH_LANES"] if lanes else []), "-shared", "-fPIC"]
    sources = [str(KERNEL / f"{unit}.c") for unit in units]
    subprocess.run([compiler, *flags, *sources, "-o", str(out), "-lm"], check=True)
    return out


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_kernel_is_strict_c89(environment: str, tmp_path: Path) -> None:
    flags = ["-std=c89", "-pedantic", "-Wall", "-Wextra", "-Werror", *compile_flags()]
    build(environment, flags, tmp_path / "kernel.so")


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_an_optimiser_drops_no_rounding(environment: str, tmp_path: Path) -> None:
    plain = build(environment, ["-O0", "-ffp-contract=off"], tmp_path / "O0.so")
    shipped = build(environment, compile_flags(), tmp_path / "shipped.so")
    for swivel in range(3):
        assert solve(plain, environment, swivel) == solve(shipped, environment, swivel)


@pytest.mark.parametrize("compiler", [name for name in ("gcc", "clang") if shutil.which(name)])
@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_lanes_have_the_literal_bits_at_every_optimisation_and_no_warnings(
    environment: str, compiler: str, tmp_path: Path
) -> None:
    plain = build(environment, ["-O0", "-ffp-contract=off"], tmp_path / "O0.so")
    strict = ["-Wall", "-Wextra", "-Werror"]
    for name, flags in {"shipped": compile_flags(), "O0": ["-O0", "-ffp-contract=off"]}.items():
        built = build(environment, [*flags, *strict], tmp_path / f"lanes-{name}.so", lanes=True, compiler=compiler)
        for swivel in range(3):
            found = {path: solve(built, environment, swivel, path) for path in LIMB_PATHS}
            assert {bits for bits in found.values() if bits} == {solve(plain, environment, swivel)}


def test_the_two_environments_differ(tmp_path: Path) -> None:
    a, b = (build(environment, compile_flags(), tmp_path / f"{environment}.so") for environment in ENVIRONMENTS)
    assert solve(a, ENVIRONMENTS[0], 0) != solve(b, ENVIRONMENTS[1], 0)


LANE_FUNCTIONS = re.compile(r"<(maxik_\w+_(256|512)|solve_blocks|prepare)[.\w]*>:")


@pytest.mark.skipif(shutil.which("objdump") is None, reason="no disassembler")
def test_no_multiply_add_is_fused_but_in_lanes() -> None:
    """One rounding instead of two would change bits; lanes fuse where they have an error bound, and nowhere else."""
    extension = import_module("maxik.kernel._kernel").__file__
    command = ["objdump", "-d", "--no-show-raw-insn", str(extension)]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    functions: dict[str, list[str]] = {}
    for line in listing.splitlines():
        if line.endswith(">:"):
            functions.setdefault(line, [])
        elif line.count("\t") >= 1 and functions:
            functions[next(reversed(functions))].append(line.split("\t")[1].split()[0])
    assert len(functions) > 20
    fused = [
        name for name, code in functions.items() if any(re.match(r"v?fn?m(add|sub|la|ls)", instruction) for instruction in code)
    ]
    assert [name for name in fused if not LANE_FUNCTIONS.search(name)] == []
