"""The leap's rounding bound: never exceeded, not twice too large, and needed (docs/spline-leap.md)."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from cffi import FFI
from numpy.typing import NDArray

from maxik.kernel.build_kernel import compile_flags, declarations
from maxik.kernel.choices import LITERAL
from maxik.kernel.engine import KernelEngine, is_built
from maxik.kernel.settings import KernelSettings
from maxik.profile import PROFILES
from maxik.verify.spline_problems import make_problem

KERNEL = Path(__file__).resolve().parents[2] / "kernel"
HALF_ULP = 2.0**-24
Float64s = NDArray[np.float64]


def f(x: NDArray[np.floating]) -> Float64s:
    """Round to float32."""
    return np.asarray(x, np.float64).astype(np.float32).astype(np.float64)


def literal_distances(p: Float64s, start: Float64s, x: Float64s) -> Float64s:
    """Return the distances of the literal samples at x of one segment, in the arithmetic of core-profile.md."""
    t = f(x)
    s = f(1.0 - t)
    a, b, c, d = (row[None, :] for row in p)
    s, t = s[:, None], t[:, None]
    point = f(s * s * s * a + 3.0 * s * s * t * b + 3.0 * s * t * t * c + t * t * t * d)
    off = f(point - start)
    return f(np.sqrt(f(off[:, 0] * off[:, 0] + off[:, 1] * off[:, 1] + off[:, 2] * off[:, 2])))


def exact_distances(p: Float64s, start: Float64s, x: Float64s) -> Float64s:
    """Return the curve's own distances, in 64 bits of mantissa where the machine has them."""
    t = x.astype(np.longdouble)
    s = 1 - t
    weights = (s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t)
    d = sum(w[:, None] * row.astype(np.longdouble) for w, row in zip(weights, p, strict=True)) - start
    return np.array(np.sqrt((d * d).sum(axis=1)), np.float64)


def test_errors_stay_below_the_bound_and_exceed_half_of_it() -> None:
    """With half the bound a sample could lie on the wrong side of a threshold."""
    rng = np.random.default_rng(1)
    worst = 0.0
    for trial in range(1500):
        p = f(rng.normal(size=(4, 3)) * 10 ** rng.uniform(-1, 2) + rng.normal(size=3) * 10 ** rng.uniform(-1, 2.5))
        if trial % 3 == 0:
            p = f(p[0] + (p - p[0]) * 1e-3)
        largest = np.linalg.norm(p, axis=1).max()
        start = f(p.mean(axis=0) + rng.normal(size=3) * largest * 10 ** rng.uniform(-4, 0))
        segments = int(rng.integers(1, 6))
        place = int(rng.integers(0, segments))
        x = f((place + rng.uniform(0, 1, 1500)) / segments) * segments - place
        x = x[(x >= 0.0) & (x < 1.0)]
        exact = exact_distances(p, start, x)
        speed = 3.0 * np.linalg.norm(np.diff(p, axis=0), axis=1).max()
        bound = HALF_ULP * (2.5 * largest + 0.5 * speed + largest + 2.6 * exact)
        worst = max(worst, float((np.abs(literal_distances(p, start, x) - exact) / bound).max()))
    assert 0.5 < worst <= 1.0


@pytest.mark.skipif(not is_built() or shutil.which("cc") is None or sys.platform == "win32", reason="no C compiler")
def test_without_the_bound_bits_go_wrong(tmp_path: Path) -> None:
    """A kernel built without the bound differs from the literal march on the same problems on which ours does not."""
    library = tmp_path / "unbounded.so"
    source = str(KERNEL / "unit_x87_53.c")
    flags = [*compile_flags(), "-shared", "-fPIC", "-DLEAP_BOUND_SCALE=0.0"]
    subprocess.run(["cc", *flags, source, "-o", str(library), "-lm"], check=True)
    ffi = FFI()
    ffi.cdef(declarations())
    unbounded = KernelEngine(PROFILES["candidate-1"])
    unbounded._ffi = ffi  # noqa: SLF001 - the same engine over another build
    unbounded._module = SimpleNamespace(lib=ffi.dlopen(str(library)), ffi=ffi)  # type: ignore[assignment]  # noqa: SLF001
    ours, literal = KernelEngine(PROFILES["candidate-1"]), KernelEngine(PROFILES["candidate-1"], KernelSettings(LITERAL))
    wrong = 0
    for kind in ("open_curve", "straight", "closed_curve", "offset", "unjoined"):
        for seed in range(120):
            problem = make_problem(kind, seed)
            expected = literal.solve_spline(problem)
            assert repr(ours.solve_spline(problem).u) == repr(expected.u)
            wrong += repr(unbounded.solve_spline(problem).u) != repr(expected.u)
    assert wrong > 10
