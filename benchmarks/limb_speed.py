"""What a limb solve costs: every path, beside other solvers, for takes of every length, and where its instructions go."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from instructions import a_frame, build, by_kind
from maxik.errors import MaxikError
from maxik.kernel.choices import LITERAL
from maxik.kernel.engine import KernelEngine
from maxik.kernel.settings import KernelSettings
from maxik.oracle.build import X87_GCC
from maxik.oracle.build import build as build_oracle
from maxik.oracle.engine import OracleEngine
from maxik.problems import GOAL, START_JOINT, LimbTake
from maxik.profile import PROFILES
from takes import LOWER, UPPER, VH_TARGET, limb_take
from timing import in_turn, table

SWIVELS = (START_JOINT, GOAL, VH_TARGET)
REFERENCE = "candidate-1"
LENGTHS = (32, 1_000, 10_000, 100_000, 10_000_000)
_KINDS_OF_LIMB = {
    "sin, cos, acos, atan2": r"lane_functions.h:(wide_|reg_)|e_atan2|s_sin|e_asin|w_a|fenv|lanes.h:wide_(abs|select)",
    "products added in one, there and in vectors": r"fmaintrin",
    "rounding to float": r"cvt",
    "doubts": r"doubt|min_|max_|solve_in_lanes",
    "arrays in and out": r"gather|scatter|solve_frame|load3|storeu|loadu",
    "the initialisation": r"limb_prepare|initial|apply_link|link_matrix|link_dof|root_link|chain_at|pose_at|memcmp|validate",
    "vectors and matrices": r"\.[ch]:",
}


def engine(path: str = "auto", profile: str = REFERENCE, threads: int = 1) -> KernelEngine:
    """Return the kernel by one limb path."""
    return KernelEngine(PROFILES[profile], KernelSettings(limb_path=path, threads=threads))


def paths(profile: str = REFERENCE) -> tuple[str, ...]:
    """Return the limb paths of this machine."""
    return engine(profile=profile).limb_paths()


def cores() -> int:
    """Return how many cores there are."""
    return KernelSettings().thread_count()


def by_path() -> Iterator[str]:
    """Every path over 100,000 frames, in both environments and all three ways to say the swivel angle."""
    frames = 100_000
    yield "## Paths"
    yield ""
    yield f"Nanoseconds a solve, a take of {frames:,} frames with random goals, numpy arrays in and out, one thread; in"
    yield "brackets how many times as fast as the literal path. `smooth`: a goal that circles, which branch predictors learn."
    yield ""
    takes = {
        **{f"{REFERENCE}, {swivel}": (REFERENCE, limb_take(frames, swivel)) for swivel in SWIVELS},
        f"{REFERENCE}, {START_JOINT}, smooth": (REFERENCE, limb_take(frames, smooth=True)),
        f"max-2016-x64, {START_JOINT}": ("max-2016-x64", limb_take(frames)),
    }
    rows = []
    for name, (profile, take) in takes.items():
        engines = {path: engine(path, profile) for path in paths(profile)}
        timed = in_turn({path: _solve(each, take) for path, each in engines.items()}, rounds=9)
        rows.append([name, *(f"{1e9 * entry.seconds / frames:.0f} ({entry.ratio:.1f})" for entry in timed.values())])
    yield from table(["take", *paths()], rows)


def _solve(each: KernelEngine | OracleEngine, take: LimbTake) -> Callable[[], object]:
    return lambda: each.solve_limb_take(take)


def by_others() -> Iterator[str]:
    """One core, all cores, the x87 build, ikpy, on the same chain and goals."""
    frames, few = 100_000, 20
    take = limb_take(frames)
    yield "## Beside others"
    yield ""
    yield "The same chain and goals. The x87 build answers over pipes, which its time includes; ikpy, asked for a few goals,"
    yield "searches for angles that reach the goal, and has neither a swivel plane nor bits to keep."
    yield ""
    calls: dict[str, Callable[[], object]] = {
        "literal": engine(LITERAL).limb_call(take).solve,
        "batch, one core": engine().limb_call(take).solve,
        f"batch, {cores()} cores": engine(threads=cores()).limb_call(take).solve,
    }
    notes = []
    try:
        calls[X87_GCC] = _solve(OracleEngine(build_oracle(X87_GCC), PROFILES[REFERENCE]), take)
    except MaxikError as error:
        notes.append(f"Not measured: {error}")
    timed = in_turn(calls, rounds=15)
    rows = [[name, f"{1e9 * entry.seconds / frames:,.0f}", f"{entry.ratio:.2f}"] for name, entry in timed.items()]
    found = _ikpy(np.ascontiguousarray(take.goal[:few, 9:], np.float64))
    if found is None:
        notes.append("Not measured: ikpy is not installed (make speed installs it).")
    else:
        rows.append(["ikpy", f"{1e9 * found:,.0f}", f"{timed['literal'].seconds / frames / found:.5f}"])
    yield from table(["solver", "ns a solve", "times literal"], rows)
    yield "Each take was laid out once (`KernelEngine.limb_call`)."
    yield ""
    yield from notes


def _ikpy(goals: np.ndarray) -> float | None:
    """Return ikpy's seconds a goal on a shoulder of three angles and an elbow of one, None where it is not installed."""
    try:
        from ikpy.chain import Chain  # noqa: PLC0415 - only here
        from ikpy.link import OriginLink, URDFLink  # noqa: PLC0415
    except ImportError:
        return None
    axes = {"z": (0, 0, 1), "y": (0, 1, 0), "x": (1, 0, 0)}
    shoulder = [
        URDFLink(name=name, origin_translation=(0, 0, 0), origin_orientation=(0, 0, 0), rotation=axis)
        for name, axis in axes.items()
    ]
    elbow = URDFLink(name="elbow", origin_translation=(UPPER, 0, 0), origin_orientation=(0, 0, 0), rotation=axes["z"])
    end = URDFLink(name="end", origin_translation=(LOWER, 0, 0), origin_orientation=(0, 0, 0), joint_type="fixed")
    mask = [False, *[True] * 4, False]
    chain = Chain([OriginLink(), *shoulder, elbow, end], active_links_mask=mask)
    start = time.perf_counter()
    for goal in goals:
        chain.inverse_kinematics(goal)
    return (time.perf_counter() - start) / len(goals)


def by_length() -> Iterator[str]:
    """Time and the share of frames that lanes left to the scalar path, for takes of different lengths."""
    yield "## Lengths"
    yield ""
    yield "The widest lanes on one thread and on all cores. `call`: a take laid out once (`KernelEngine.limb_call`) and solved"
    yield "again and again, as for goals that arrive in batches; `take`: `solve_limb_take`, which lays its arrays out anew."
    yield "Ratios are to the literal path called the same way. Takes of fewer than 8,192 frames stay on one thread. A frame"
    yield "takes 77 bytes: 52 of goal and swivel angle, 25 of status and angles."
    yield ""
    rows = []
    for frames in LENGTHS:
        repeat, rounds = max(1, 20_000 // frames), 3 if frames == max(LENGTHS) else 9
        take = limb_take(frames)
        literal, batch = engine(LITERAL).limb_call(take), engine().limb_call(take)
        many = engine(threads=cores()).limb_call(take)
        calls = in_turn({"literal": literal.solve, "one": batch.solve, "all": many.solve}, rounds, repeat)
        takes = in_turn({"literal": _solve(engine(LITERAL), take), "one": _solve(engine(), take)}, rounds, repeat)
        redone = batch.solve() / frames
        del literal, batch, many, take
        rows.append([
            f"{frames:,}",
            *(f"{1e9 * calls[name].seconds / frames:.0f} ({calls[name].ratio:.1f})" for name in ("one", "all")),
            f"{calls['all'].ratio / calls['one'].ratio:.2f}",
            f"{1e9 * takes['one'].seconds / frames:.0f} ({takes['one'].ratio:.1f})",
            f"{100 * redone:.4f} %",
        ])  # fmt: skip
    together = f"call, {cores()} cores"
    yield from table(["frames", "call, one thread", together, "cores to one", "take, one thread", "solved again"], rows)


def instructions(folder: Path) -> Iterator[str]:
    """Where a limb solve's instructions go."""
    yield "## Where a limb solve goes"
    yield ""
    yield "Instructions a frame, counted by callgrind (which has no AVX-512), functions inlined as shipped. The scalar"
    yield "initialisation's own vectors and matrices count among those of the solve."
    yield ""
    program, frames = build(folder, "profile_main.c"), 20_000
    counted = {name: number for name, number in (("literal", 0), ("scalar", 1), ("sse2", 2), ("avx2", 3)) if name in paths()}
    found = {name: by_kind(a_frame(folder, program, number, frames), _KINDS_OF_LIMB) for name, number in counted.items()}
    rows = [[kind, *(f"{found[name][kind] / frames:,.0f}" for name in counted)] for kind in _KINDS_OF_LIMB]
    rows.append(["together", *(f"{sum(found[name][kind] for kind in _KINDS_OF_LIMB) / frames:,.0f}" for name in counted)])
    yield from table(["", *counted], rows)
