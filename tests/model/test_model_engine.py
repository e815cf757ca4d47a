"""ModelEngine as an `Engine`: batches are its scalar functions row by row, and it says what it is."""

from __future__ import annotations

from dataclasses import replace
from importlib import metadata

import numpy as np
import pytest
from model_cases import bits, euler_rotation, made_problem, plane_at

from maxik.model.engine import ModelEngine
from maxik.problems import STATUSES, Engine, Vector, take_of
from maxik.profile import PROFILES, CoreProfile, parse_profile

ENGINE: Engine = ModelEngine()  # mypy checks the protocol here
CHANCE = np.random.default_rng(11)


def rows(*shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    return CHANCE.normal(size=shape).astype(np.float32)


def row(array: object) -> Vector:
    return tuple(np.asarray(array).ravel().tolist())


@pytest.mark.parametrize("profile", list(PROFILES.values()), ids=str)
def test_a_take_is_its_frames(profile: CoreProfile) -> None:
    engine = ModelEngine(profile)
    problems = [made_problem(seed) for seed in range(5)]
    solution = engine.solve_limb_take(take_of(problems))
    arrays = (solution.status, solution.rot_xyz, solution.dof_zyx)
    assert [str(part.dtype) for part in arrays] == ["uint8", "float32", "float32"]
    assert solution.redone == 0
    for frame, problem in enumerate(problems):
        one = engine.solve_limb(problem)
        assert (STATUSES[solution.status[frame]], bits(row(solution.rot_xyz[frame]))) == (one.status, bits(one.rot_xyz))
        assert bits(row(solution.dof_zyx[frame])) == bits(one.dof_zyx)


def test_a_take_of_one_joint_chains_has_no_links() -> None:
    solution = ENGINE.solve_limb_take(replace(take_of([made_problem(1), made_problem(2)]), link_count=0))
    assert np.isnan(solution.dof_zyx).all()
    assert not np.isnan(solution.rot_xyz).any()


def test_a_take_of_a_wrong_shape_is_nan_with_its_status() -> None:
    solution = ENGINE.solve_limb_take(replace(take_of([made_problem(1)]), link_count=2))
    assert STATUSES[solution.status[0]] == "invalid-initial-value"
    assert np.isnan(solution.rot_xyz).all()


def test_initial_plane_of_limbs() -> None:
    problems = [made_problem(seed) for seed in range(20)]
    take = take_of(problems)
    n0, a0 = ENGINE.initial_plane(3, take.root_init_xyz, take.root_extend, take.links_init_zyx, take.links_extend)
    expected = [plane_at(problem) for problem in problems]
    assert np.abs(n0 - np.array([plane[0] for plane in expected])).max() < 1e-6
    assert np.abs(a0 - np.array([plane[1] for plane in expected])).max() < 1e-6


def test_initial_plane_of_a_one_joint_chain_is_unit_x() -> None:
    """Its end stands for elbow and wrist: n0 = Normalize(0) (core-profile.md, ik.initial_plane)."""
    root = rows(3, 3), rows(3, 3)
    n0, a0 = ENGINE.initial_plane(0, *root, rows(3, 3), rows(3, 3))
    assert n0.tolist() == [[1.0, 0.0, 0.0]] * 3
    for angles, extend, direction in zip(*root, a0, strict=True):
        end = extend.astype(float) @ euler_rotation(angles.tolist())
        assert np.abs(direction - end / np.linalg.norm(end)).max() < 1e-6


def test_initial_plane_refuses_other_shapes() -> None:
    with pytest.raises(ValueError, match="link_count is 2"):
        ENGINE.initial_plane(2, rows(1, 3), rows(1, 3), rows(1, 3), rows(1, 3))


def test_batches_are_the_items_row_by_row() -> None:
    a, b, points, quats = rows(4, 4, 3), rows(4, 4, 3), rows(4, 3), rows(4, 4)
    items = ENGINE.items
    pairs, transforms = zip(a, b, strict=True), zip(points, a, strict=True)
    batches = {
        "multiply": (ENGINE.multiply(a, b), [items["matrix3.multiply"](a=row(x), b=row(y))["m"] for x, y in pairs]),
        "invert": (ENGINE.invert(a), [items["matrix3.invert"](m=row(x))["m"] for x in a]),
        "quat_matrix": (ENGINE.quat_matrix(quats), [items["quat.make_matrix"](q=row(q))["m"] for q in quats]),
        "transform_points": (
            ENGINE.transform_points(points, a),
            [items["matrix3.point_transform"](m=row(x), v=row(p))["v"] for p, x in transforms],
        ),
    }
    for name, (batch, singles) in batches.items():
        assert batch.dtype == np.float32, name
        assert batch.shape == ((4, 3) if name == "transform_points" else (4, 4, 3)), name
        assert [bits(row(one)) for one in batch] == [bits(one) for one in singles], name


def test_euler_matrix_is_rx_ry_rz() -> None:
    angles = rows(10, 3)
    for xyz, m in zip(angles.tolist(), ENGINE.euler_matrix(angles), strict=True):
        assert np.abs(m[:3] - euler_rotation(xyz)).max() < 1e-6
        assert not m[3].any()


def test_empty_batches() -> None:
    assert ENGINE.multiply(rows(0, 4, 3), rows(0, 4, 3)).shape == (0, 4, 3)
    assert ENGINE.transform_points(rows(0, 3), rows(0, 4, 3)).shape == (0, 3)


def test_it_says_what_it_is() -> None:
    profile = parse_profile("max-2016-x64,matrix3.to_euler=asin")
    assert dict(ModelEngine(profile).describe()) | {"implementation": ""} == {
        "engine": "model",
        "version": metadata.version("maxik"),
        "implementation": "",
        "environment": "sse-32",
        "profile": "max-2016-x64,matrix3.to_euler=asin",
    }
