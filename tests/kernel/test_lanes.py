"""Lanes: takes solved many frames at once have the literal path's bits, whatever the frames hold."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from itertools import product
from threading import Event, Thread, current_thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from maxik.cli import main
from maxik.engines import KERNEL_ONLY, make_engine
from maxik.errors import EngineError, UsageError
from maxik.kernel.choices import LANE_BITS, LIMB_PATHS, LITERAL, SCALAR
from maxik.kernel.engine import KernelEngine, is_built
from maxik.kernel.settings import MOST_THREADS, THREADS_VARIABLE, KernelSettings
from maxik.problems import GOAL, START_JOINT, LimbTake, LimbTakeSolution
from maxik.profile import PROFILES
from maxik.solutions import limb_bits
from maxik.verify.limb_problems import KINDS, make_problem

pytestmark = pytest.mark.skipif(not is_built(), reason="the compiled kernel is not there")

Floats = NDArray[np.float32]
FUNCTIONS = ("acos_safe", "cos_half", "neg_sin_half", "sin", "cos", "atan2")
"""As numbered by kernel/limb_batch.h."""
SPECIAL = np.array(
    [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        1e4,
        -1e4,
        10001.0,
        1e30,
        1e-30,
        1e-38,
        -1e-38,
        1e-40,
        1e-45,
        np.inf,
        -np.inf,
        np.nan,
    ],
    np.float32,
)


def paths() -> list[str]:
    """Return the lane paths of this machine."""
    if not is_built():
        return []
    return [path for path in KernelEngine(PROFILES["candidate-1"]).limb_paths() if path in LANE_BITS]


def engine(path: str, profile: str = "candidate-1", threads: int = 1) -> KernelEngine:
    return KernelEngine(PROFILES[profile], KernelSettings(limb_path=path, threads=threads))


def bits_of(solution: LimbTakeSolution) -> tuple[bytes, bytes, bytes]:
    """Return everything that a take's solution says of its frames, every NaN the same one."""
    nan = np.float32(np.nan)
    angles = (np.where(np.isnan(array), nan, array) for array in (solution.rot_xyz, solution.dof_zyx))
    return solution.status.tobytes(), *(array.tobytes() for array in angles)  # type: ignore[return-value]


def random_take(frames: int, link_count: int, swivel: str, seed: int) -> LimbTake:
    """Return one chain with goals all around, in and out of reach, some of them in awkward places."""
    rng = np.random.default_rng(seed)

    def row(*values: float) -> Floats:
        return np.array([values], np.float32)

    goal = rng.normal(size=(frames, 12)).astype(np.float32)
    goal[:, 9:] *= np.float32(5.0)
    awkward = rng.random(frames) < 0.05
    goal[awkward, 9:] = np.round(goal[awkward, 9:])
    goal[awkward & (rng.random(frames) < 0.5), 11] = rng.choice(np.array([0.0, -0.0], np.float32))
    pose = (row(0.1, 0.2, 0.3), row(5.0, 0.1, 0.0), row(0.9, 0.0, -0.0), row(4.5, 0.0, 0.2))
    n0, a0 = engine(LITERAL).initial_plane(link_count, *pose)
    vh_target = rng.normal(size=(frames, 3)).astype(np.float32) if swivel == "vh" else None
    angle = rng.uniform(-7.0, 7.0, frames).astype(np.float32)
    parent = GOAL if swivel == GOAL else START_JOINT
    return LimbTake(frames, link_count, *pose, goal, parent, angle, vh_target, n0, a0)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("profile", sorted(PROFILES))
@pytest.mark.parametrize("path", paths())
def test_problems_of_every_kind_each_with_a_pose_of_its_own(path: str, profile: str, kind: str) -> None:
    problems = [make_problem(kind, seed) for seed in range(3000)]
    literal, lanes = (engine(name, profile).solve_limbs(problems) for name in (LITERAL, path))
    assert [limb_bits(solution) for solution in lanes] == [limb_bits(solution) for solution in literal]


@pytest.mark.parametrize(("link_count", "swivel"), [(3, START_JOINT), (3, GOAL), (3, "vh"), (0, START_JOINT)])
@pytest.mark.parametrize("profile", sorted(PROFILES))
@pytest.mark.parametrize("path", paths())
def test_one_chain_with_goals_all_around(path: str, profile: str, link_count: int, swivel: str) -> None:
    take = random_take(20_000, link_count, swivel, 1)
    found = engine(path, profile).solve_limb_take(take)
    assert bits_of(found) == bits_of(engine(LITERAL, profile).solve_limb_take(take))
    assert found.redone < take.frames // 50


@pytest.mark.parametrize("path", paths())
def test_takes_of_every_length_have_their_last_frames(path: str) -> None:
    whole = random_take(80, 3, START_JOINT, 2)
    expected = engine(LITERAL).solve_limb_take(whole)
    for frames in (*range(1, 50), 79, 80):
        take = replace(whole, frames=frames, goal=whole.goal[:frames], swivel_angle=whole.swivel_angle[:frames])
        found = engine(path).solve_limb_take(take)
        assert found.rot_xyz.tobytes() == expected.rot_xyz[:frames].tobytes()
        assert found.dof_zyx.tobytes() == expected.dof_zyx[:frames].tobytes()


@pytest.mark.parametrize("path", paths())
def test_a_pose_that_moves_for_a_part_of_the_take(path: str) -> None:
    take = random_take(3000, 3, GOAL, 3)
    root = np.repeat(take.root_init_xyz, take.frames, axis=0)
    root[1100:1500] += np.linspace(0.0, 1.0, 400, dtype=np.float32)[:, None]
    moving = replace(take, root_init_xyz=root)
    assert bits_of(engine(path).solve_limb_take(moving)) == bits_of(engine(LITERAL).solve_limb_take(moving))


@pytest.mark.parametrize("path", paths())
def test_frames_without_a_direction_are_solved_again(path: str) -> None:
    """A goal at the origin has no direction, one on the plane normal no zero map: what lanes leave to the scalar path."""
    take = random_take(64, 3, START_JOINT, 4)
    goal = take.goal.copy()
    goal[::2, 9:] = 0.0
    goal[1::4, 9:] = 3.0 * take.n0
    found = engine(path).solve_limb_take(replace(take, goal=goal))
    assert bits_of(found) == bits_of(engine(LITERAL).solve_limb_take(replace(take, goal=goal)))
    assert found.redone >= 32


@pytest.mark.parametrize("path", paths())
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_random_bits(path: str, data: st.DataObject) -> None:
    frames = data.draw(st.integers(16, 60))
    take = random_take(frames, data.draw(st.sampled_from((0, 3))), data.draw(st.sampled_from((GOAL, START_JOINT, "vh"))), 5)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    spoiled: dict[str, Any] = {}
    for name in ("root_init_xyz", "root_extend", "links_init_zyx", "links_extend", "goal", "swivel_angle", "n0", "a0"):
        array = np.repeat(getattr(take, name), 1 if len(getattr(take, name)) > 1 else frames, axis=0).reshape(frames, -1)
        where = rng.random(array.shape) < 0.02
        noise = rng.integers(0, 2**32, array.shape, np.uint32).view(np.float32)
        spoiled[name] = (
            np.where(where, noise, array).astype(np.float32).reshape((frames, -1) if name != "swivel_angle" else frames)
        )
    take = replace(take, **spoiled)
    assert bits_of(engine(path).solve_limb_take(take)) == bits_of(engine(LITERAL).solve_limb_take(take))


# ---- the functions ----


def lane_function(path: str, profile: str, name: str, x: Floats, y: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Return a function's results in lanes, and which are in doubt."""
    module = import_module("maxik.kernel._kernel")
    out, doubt = np.zeros(len(x), np.float32), np.zeros(len(x), np.uint8)
    call = getattr(module.lib, f"maxik_{PROFILES[profile].environment.replace('-', '_')}_lane_function")
    pointers = [module.ffi.from_buffer("float[]", array) for array in (x, y, out)]
    call(LIMB_PATHS[path], FUNCTIONS.index(name), len(x), *pointers, module.ffi.from_buffer("unsigned char[]", doubt))
    return out, doubt != 0


def all_around(name: str) -> tuple[Floats, Floats]:
    """Return arguments: of every exponent, dense where the function is used, special ones, and all pairs of these."""
    rng = np.random.default_rng(6)
    every = rng.integers(0, 2**32, 20_000, np.uint32).view(np.float32)
    used = rng.uniform(-1.0 if name == "acos_safe" else -7.0, 1.0 if name == "acos_safe" else 7.0, 40_000).astype(np.float32)
    pairs = np.array(list(product(SPECIAL, SPECIAL)), np.float32)
    x = np.concatenate([every, used, pairs[:, 0]])
    y = np.concatenate([rng.permutation(every), rng.permutation(used), pairs[:, 1]])
    return x, y


def scalar_function(profile: str, name: str, x: Floats, y: Floats) -> Floats:
    item = engine(SCALAR, profile).items[name]
    if name == "atan2":
        return np.array([item(y=float(a), x=float(b))["angle"] for a, b in zip(x, y, strict=True)], np.float32)
    return np.array([item(x=float(a))["y"] for a in x], np.float32)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("profile", sorted(PROFILES))
@pytest.mark.parametrize("path", paths())
def test_what_is_not_in_doubt_has_the_runtimes_bits_signed_zeros_included(path: str, profile: str, name: str) -> None:
    x, y = all_around(name)
    found, doubt = lane_function(path, profile, name, x, y)
    expected = scalar_function(profile, name, x, y)
    wrong = (found.view(np.uint32) != expected.view(np.uint32)) & ~doubt
    assert list(zip(x[wrong], y[wrong], found[wrong], expected[wrong], strict=True))[:5] == []
    assert doubt[20_000:60_000].mean() < 1e-3


@pytest.mark.parametrize("path", paths())
def test_results_near_a_midpoint_of_two_floats_are_in_doubt_and_others_are_not(path: str) -> None:
    x = np.arange(0x3F000000, 0x40000000, 3, dtype=np.uint32).view(np.float32)  # 0.5 to 2
    _, doubt = lane_function(path, "candidate-1", "sin", x, x)  # sine and cosine are found together
    wide = x.astype(np.float64)
    bits = np.stack([np.sin(wide), np.cos(wide)]).view(np.int64)
    distance = np.abs((bits & 0x1FFFFFFF) - 0x10000000).min(axis=0)
    assert doubt[distance < 400].all()
    assert not doubt[distance > 600].any()
    assert doubt.any()


# ---- paths and threads ----


@pytest.mark.parametrize("threads", [2, 3, 7])
@pytest.mark.parametrize("path", [LITERAL, SCALAR, "auto"])
def test_threads_change_no_bit_and_no_order(path: str, threads: int) -> None:
    take = random_take(40_000, 3, START_JOINT, 7)
    one, many = (engine(path, threads=count).solve_limb_take(take) for count in (1, threads))
    assert bits_of(many) == bits_of(one)
    assert many.redone == one.redone


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_many_chains_come_back_in_their_order(threads: int) -> None:
    takes = [random_take(frames, 3, START_JOINT, frames) for frames in (40, 9000, 1, 17, 300, 20_000)]
    found = engine("auto", threads=threads).solve_limb_takes(takes)
    assert [bits_of(solution) for solution in found] == [bits_of(engine(LITERAL).solve_limb_take(take)) for take in takes]
    assert engine("auto", threads=threads).solve_limb_takes([]) == []


def test_a_call_solves_what_the_arrays_now_hold() -> None:
    take = random_take(9000, 3, START_JOINT, 8)
    other = random_take(9000, 3, START_JOINT, 9)
    call = engine("auto", threads=2).limb_call(take)
    call.solve()
    take.goal[:] = other.goal
    take.swivel_angle[:] = other.swivel_angle
    take.root_init_xyz[:] = 0.25
    call.solve()
    expected = engine(LITERAL).solve_limb_take(take)
    assert call.rot_xyz.tobytes() == expected.rot_xyz.tobytes()
    assert call.dof_zyx.tobytes() == expected.dof_zyx.tobytes()


def test_a_call_from_several_threads_takes_turns() -> None:
    """The initialisation that a call keeps is not one that another thread is making."""
    take = random_take(600, 3, GOAL, 10)
    moving = np.repeat(take.root_init_xyz, take.frames, axis=0) + np.linspace(0, 1, take.frames, dtype=np.float32)[:, None]
    take = replace(take, root_init_xyz=np.ascontiguousarray(moving))
    call = engine(SCALAR).limb_call(take)
    threads = [Thread(target=lambda: [call.solve() for _ in range(40)]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bits_of(call.solution()) == bits_of(engine(LITERAL).solve_limb_take(take))


def test_a_system_without_more_threads_is_slower_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Thread) -> None:
        message = "can't start new thread"
        raise RuntimeError(message)

    take = random_take(30_000, 3, START_JOINT, 11)
    expected = bits_of(engine("auto").solve_limb_take(take))
    monkeypatch.setattr(Thread, "start", refuse)
    assert bits_of(engine("auto", threads=3).solve_limb_take(take)) == expected


def test_an_interrupted_solve_waits_for_its_threads() -> None:
    """What the other threads write to is not freed under them."""
    call = engine("auto", threads=3).limb_call(random_take(60_000, 3, START_JOINT, 12))
    solve, here = call.solve_part, current_thread()
    begun, ended = [], []
    other_is_at_work, this_is_at_work = Event(), Event()

    def interrupted(part: object) -> None:
        if current_thread() is here:
            this_is_at_work.set()
            other_is_at_work.wait()
            raise KeyboardInterrupt
        begun.append(part)
        other_is_at_work.set()
        this_is_at_work.wait()
        solve(part)
        ended.append(part)

    with pytest.raises(KeyboardInterrupt):
        replace(call, solve_part=interrupted).solve()
    assert begun
    assert len(begun) == len(ended)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_threads_do_not_outlive_a_fork() -> None:
    """A child whose parent has solved on several threads solves on its own."""
    program = """
import os, warnings
from maxik.kernel.side_by_side import SideBySide
warnings.simplefilter("ignore")
done = []
threads = SideBySide(3)
threads.do(done.append, range(8), done)
child = os.fork()
threads.do(done.append, range(8, 16), done)
assert sorted(done) == list(range(16)), done
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_a_take_of_anything_but_arrays_is_refused() -> None:
    take = random_take(20, 3, START_JOINT, 13)
    with pytest.raises(ValueError, match="goal"):
        replace(take, goal=b"\0" * 48)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="n0"):
        replace(take, n0=None)  # type: ignore[arg-type]
    for name, value in (("frames", -1), ("frames", 20.0), ("link_count", "3")):
        with pytest.raises(ValueError, match=name):
            replace(take, **{name: value})  # type: ignore[arg-type]


def test_the_number_of_threads_comes_from_the_setting_then_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(THREADS_VARIABLE, "3")
    assert KernelSettings().thread_count() == 3
    assert KernelSettings(threads=2).thread_count() == 2
    monkeypatch.setenv(THREADS_VARIABLE, "")
    assert KernelSettings().thread_count() >= 1


@pytest.mark.parametrize("given", ["0", "-1", "two", "1.5", str(MOST_THREADS + 1), "\u0663", "9" * 5000])
def test_a_variable_that_is_no_number_of_threads_is_refused(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(THREADS_VARIABLE, given)
    with pytest.raises(UsageError, match=THREADS_VARIABLE):
        KernelSettings().thread_count()


@pytest.mark.parametrize("threads", [0, -1, MOST_THREADS + 1, 1.5, "4", True])
def test_a_setting_that_is_no_number_of_threads_is_refused(threads: Any) -> None:  # noqa: ANN401 - anything
    with pytest.raises(UsageError, match="threads"):
        KernelSettings(threads=threads)


def test_the_model_says_that_it_has_no_such_settings() -> None:
    assert make_engine("model", PROFILES["candidate-1"], KernelSettings(limb_path="avx2"))[1] == (KERNEL_ONLY,)
    assert make_engine("model", PROFILES["candidate-1"])[1] == ()


def test_the_path_is_named_and_a_path_of_another_machine_refused(capsys: pytest.CaptureFixture[str]) -> None:
    told = engine("auto").describe()
    assert told["limb_path"] in (*paths(), SCALAR)
    assert (told["limb_lanes"] == "1") == (told["limb_path"] == SCALAR)
    missing = sorted(set(LIMB_PATHS) - set(engine("auto").limb_paths()))
    with pytest.raises(EngineError, match=missing[0]):
        engine(missing[0])
    with pytest.raises(UsageError, match="avx1024"):
        engine("avx1024")
    assert main(["bake", "examples/walk.scene.json", "-o", "out.json", "--threads", "0"]) == 2
    assert "0 threads" in capsys.readouterr().err
