"""Takes: one call for many frames gives the bits of one call a frame, whatever is constant."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from maxik.errors import EngineError
from maxik.kernel.engine import KernelEngine, is_built
from maxik.model.engine import ModelEngine
from maxik.numerics.float32 import same_bits
from maxik.problems import STATUSES, Engine, LimbProblem, LimbTake, take_of
from maxik.profile import PROFILES, CoreProfile
from maxik.verify.limb_problems import KINDS, make_problem

needs_kernel = pytest.mark.skipif(not is_built(), reason="the compiled kernel is not there")
FRAMES = 24


def engine_of(name: str, profile: CoreProfile) -> Engine:
    return KernelEngine(profile) if name == "kernel" else ModelEngine(profile)


def take_with(problems: list[LimbProblem], constant: frozenset[str]) -> LimbTake:
    """Return a take of the problems; `constant` names the fields that keep the first problem's value in one row."""
    take = take_of(problems)
    rows = {name: getattr(take, name) for name in constant}
    return replace(take, **{name: array[:1] for name, array in rows.items() if array is not None})


@needs_kernel
@pytest.mark.parametrize("profile", sorted(PROFILES))
@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"refused"}))
@pytest.mark.parametrize("constant", ["nothing", "pose", "all"])
def test_a_take_has_the_bits_of_single_solves(profile: str, kind: str, constant: str) -> None:
    engine = KernelEngine(PROFILES[profile])
    pose = {"root_init_xyz", "root_extend", "links_init_zyx", "links_extend", "n0", "a0"}
    names = {"nothing": set(), "pose": pose, "all": {*pose, "goal", "swivel_angle", "vh_target"}}[constant]
    for parent in ("start-joint", "goal"):
        drawn = [make_problem(kind, seed) for seed in range(400)]
        alike = [p for p in drawn if p.swivel_parent == parent and p.vh_target is None][:FRAMES]
        take = take_with(alike, frozenset(names))
        solution = engine.solve_limb_take(take)
        for frame in range(take.frames):
            single = engine.solve_limb(take.problem(frame))
            assert single.status == STATUSES[solution.status[frame]]
            assert single.rot_xyz is not None
            assert all(map(same_bits, single.rot_xyz, solution.rot_xyz[frame].tolist()))
            if single.dof_zyx is None:
                assert np.isnan(solution.dof_zyx[frame]).all()
            else:
                assert all(map(same_bits, single.dof_zyx, solution.dof_zyx[frame].tolist()))


@needs_kernel
def test_the_initialisation_follows_a_pose_that_changes_and_changes_back() -> None:
    engine = KernelEngine(PROFILES["candidate-1"])
    a, b = (make_problem("planar", seed) for seed in (1, 2))
    drawn = [a, a, b, b, a, b]
    drawn = [LimbProblem(**{**{f.name: getattr(p, f.name) for f in fields(p)}, "vh_target": None}) for p in drawn]
    drawn = [LimbProblem(**{**vars(p), "swivel_parent": "start-joint"}) for p in drawn]
    solution = engine.solve_limb_take(take_of(drawn))
    assert solution.rot_xyz[0].tobytes() == solution.rot_xyz[4].tobytes()
    assert solution.rot_xyz[2].tobytes() == solution.rot_xyz[5].tobytes()
    assert solution.rot_xyz[0].tobytes() != solution.rot_xyz[2].tobytes()


@pytest.mark.parametrize("name", [pytest.param("kernel", marks=needs_kernel), "model"])
def test_a_refused_link_count_leaves_nan_and_says_so(name: str) -> None:
    engine = engine_of(name, PROFILES["candidate-1"])
    problem = LimbProblem(**{**vars(make_problem("planar", 3)), "link_count": 2, "vh_target": None})
    solution = engine.solve_limb_take(take_of([problem, problem]))
    assert [STATUSES[code] for code in solution.status] == ["invalid-initial-value"] * 2
    assert np.isnan(solution.rot_xyz).all()
    assert np.isnan(solution.dof_zyx).all()


@needs_kernel
def test_the_kernel_refuses_candidates_that_it_does_not_have() -> None:
    profile = PROFILES["candidate-1"].with_candidate("point3.normalize", "length-divide")
    with pytest.raises(EngineError, match=r"point3\.normalize=length-divide"):
        KernelEngine(profile)


def test_a_take_with_a_wrong_shape_is_refused_by_name() -> None:
    problem = LimbProblem(**{**vars(make_problem("planar", 3)), "vh_target": None})
    take = take_of([problem, problem, problem])
    with pytest.raises(ValueError, match="n0"):
        LimbTake(**{**{f.name: getattr(take, f.name) for f in fields(take)}, "n0": np.zeros((2, 3), np.float32)})


@needs_kernel
@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_row_functions_agree_with_the_model(profile: str) -> None:
    kernel, model = KernelEngine(PROFILES[profile]), ModelEngine(PROFILES[profile])
    rng = np.random.default_rng(5)
    a, b = (rng.normal(size=(50, 4, 3)).astype(np.float32) for _ in range(2))
    q = rng.normal(size=(50, 4)).astype(np.float32)
    xyz = rng.normal(size=(50, 3)).astype(np.float32)
    assert kernel.multiply(a, b).tobytes() == model.multiply(a, b).tobytes()
    assert kernel.invert(a).tobytes() == model.invert(a).tobytes()
    assert kernel.euler_matrix(xyz).tobytes() == model.euler_matrix(xyz).tobytes()
    assert kernel.quat_matrix(q).tobytes() == model.quat_matrix(q).tobytes()
    assert kernel.transform_points(xyz, a).tobytes() == model.transform_points(xyz, a).tobytes()
    for link_count in (0, 3):
        pose = [rng.normal(size=(50, 3)).astype(np.float32) for _ in range(4)]
        for x, y in zip(kernel.initial_plane(link_count, *pose), model.initial_plane(link_count, *pose), strict=True):
            assert x.tobytes() == y.tobytes()


@needs_kernel
def test_row_functions_refuse_arrays_of_another_kind() -> None:
    kernel = KernelEngine(PROFILES["candidate-1"])
    with pytest.raises(ValueError, match="float32"):
        kernel.invert(np.zeros((2, 4, 3)))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="2 rows"):
        kernel.multiply(np.zeros((2, 4, 3), np.float32), np.zeros((3, 4, 3), np.float32))
