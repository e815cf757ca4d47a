"""HI chains of two bones: solved as limbs where the limb formulae are known to hold, refused by name elsewhere."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from maxik.bake import BakeOptions, bake_scene
from maxik.cli import main
from maxik.errors import SceneError
from maxik.formats.scene_json import write_scene_json
from maxik.inspect import inspect_scene, render
from maxik.numerics.float32 import from_bits
from maxik.scene.scene import HI, Chain, Scene, SplineGoal
from maxik.scene.tracks import LinearTrack, Track
from maxik.scene.transform import Links, PositionConstraint
from rigs import constant, limb_scene, local_matrix, node, with_chain

LABEL = "HI by limb, about 1e-4 rad"
CHARACTER = "davestewart-maxscript__character.max"
ELBOW, HAND = 2, 3
ONE_FRAME = BakeOptions(frames=(0, 0))
TWO_FRAMES = BakeOptions(frames=(0, 1))
SKIPPED = replace(TWO_FRAMES, skip_unsupported=True)
Captured = pytest.CaptureFixture[str]


def hi_scene(elbow: Sequence[float] = (0.0, 0.0, 0.8), **changes: object) -> Scene:
    return with_chain(limb_scene(preferred_elbow=elbow), solver=HI, **changes)


def with_node(scene: Scene, index: int, **changes: object) -> Scene:
    nodes = list(scene.nodes)
    nodes[index] = replace(nodes[index], **changes)  # type: ignore[arg-type]
    return replace(scene, nodes=tuple(nodes))


def with_joint(scene: Scene, index: int, **changes: object) -> Scene:
    joint = scene.nodes[index].joint
    assert joint is not None
    return with_node(scene, index, joint=replace(joint, **changes))  # type: ignore[arg-type]


def at(scene: Scene, index: int, position: Track) -> Scene:
    return with_node(scene, index, transform=replace(scene.nodes[index].transform, position=position))


def reason(scene: Scene, options: BakeOptions = SKIPPED) -> str | None:
    """Return why the scene's one chain is not solved, in the certificate's words; None when it is."""
    _, certificate = bake_scene(scene, replace(options, skip_unsupported=True))
    if certificate["chains"]:
        assert certificate["chains"][0]["method"] == LABEL
        return None
    (entry,) = certificate["chains_not_solved"]
    return str(entry["reason"])


# ---- against poses that 3ds Max computed ----


def cases(shared: Path, item: str) -> list[dict[str, Any]]:
    """Return the cases of one item in the HI files with two bones, those that carry a preferred pose."""
    found = []
    for path in sorted((shared / "vectors" / "max-export").glob("hi2-*.jsonl")):
        head, *rest = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        found += [case for case in rest if head["item"] == item and "links" in case["in"]]
    return found


def scene_of(case: dict[str, Any]) -> Scene:
    """Return the case as a scene: start joint at the origin of the world, whose axes are then those of chain space."""

    def numbers(words: Sequence[str]) -> list[float]:
        return [from_bits(int(word, 16)) for word in words]

    given = case["in"]
    nodes = (
        node("start", None, preferred=numbers(given["root"]["init_xyz"])),
        node("elbow", 0, numbers(given["root"]["rigid_extend"]), preferred=numbers(given["links"]["init_zyx"])[::-1]),
        node("end", 1, numbers(given["links"]["rigid_extend"]), preferred=(0.0, 0.0, 0.0)),
        node("goal", None, numbers(given["goal"])[9:]),
    )
    angle = constant(*numbers([given["swivel"]["angle"]]))
    return Scene("case", nodes, (Chain("leg", HI, 0, 2, 3, angle, given["swivel"]["parent"], None, constant(1.0)),))


def turn_between(rotation: NDArray[np.float32], expected: Sequence[float]) -> float:
    """Return the angle of the turn between two rotations: they lie 2 * sqrt(2) * sin(angle / 2) apart."""
    apart = np.linalg.norm(rotation.astype(np.float64) - np.reshape(expected, (3, 3)))
    return float(2.0 * np.arcsin(min(apart / np.sqrt(8.0), 1.0)))


@pytest.mark.shared
def test_two_bones_have_the_poses_of_3ds_max(shared: Path) -> None:
    poses = cases(shared, "limb.solve")
    assert len(poses) >= 160
    for case in poses:
        baked, certificate = bake_scene(scene_of(case), ONE_FRAME)
        assert certificate["chains"][0]["method"] == LABEL
        for joint, expected in zip(baked.nodes, case["expected"].values(), strict=False):
            assert turn_between(joint.rotation[0], expected) <= case["tolerance"], case["id"]


@pytest.mark.shared
def test_elbows_that_3ds_max_bends_about_several_axes_are_refused_by_name(shared: Path) -> None:
    poses = cases(shared, "hi.solve")
    assert len(poses) >= 24
    for case in poses:
        with pytest.raises(SceneError, match=r"'leg' \(IKHISolver\).*joint 'elbow' bends about several of its axes"):
            bake_scene(scene_of(case), ONE_FRAME)


# ---- the conditions, one by one ----


def test_a_solved_chain_has_the_bits_of_the_limb() -> None:
    hi, limb = (bake_scene(scene, TWO_FRAMES)[1] for scene in (hi_scene(), limb_scene()))
    assert hi["raw_output_sha256"] == limb["raw_output_sha256"]
    assert (hi["chains"][0]["method"], limb["chains"][0]["method"]) == (LABEL, "IK Limb")


@pytest.mark.parametrize("joints", [2, 4])
def test_a_chain_of_another_number_of_joints(joints: int) -> None:
    scene = hi_scene(end=2) if joints == 2 else hi_scene(start=0)
    told = reason(scene)
    assert told is not None
    assert told.endswith(f"there are {joints}")
    assert "'upper arm' to 'forearm'" in told or "'root' to 'hand'" in told


@pytest.mark.parametrize(
    ("axis", "bones", "elbow"),
    [
        ("x", (0.0, 4.0, 0.0), (0.8, 0.0, 0.0)),
        ("x", (0.0, 4.0, 0.0), (-0.8, 0.0, 0.0)),
        ("y", (4.0, 0.0, 0.0), (0.0, 0.8, 0.0)),
        ("z", (4.0, 0.0, 0.0), (0.0, 0.0, 0.8)),
        ("z", (4.0, 0.0, 0.0), (0.0, 0.0, 2.0 * np.pi - 0.8)),
    ],
)
def test_an_elbow_that_bends_about_one_of_its_axes(axis: str, bones: Sequence[float], elbow: Sequence[float]) -> None:
    scene = at(at(hi_scene(elbow), ELBOW, constant(*bones)), HAND, constant(*bones))
    assert reason(scene) is None
    others = "xyz".replace(axis, "")
    assert reason(with_joint(scene, ELBOW, inactive_axes=others)) is None
    told = reason(with_joint(scene, ELBOW, inactive_axes=axis))
    assert told == f"joint 'forearm' has axes off, among them the one about which the chain bends ({axis})"


def test_the_axis_may_be_off_by_a_thousandth_of_a_radian() -> None:
    """A hand out of the plane by h of a bone of 4, bent by 0.8, turns the normal by about h / (4 * sin(0.8))."""
    for angle, solved in ((0.9e-3, True), (1.1e-3, False)):
        scene = at(hi_scene(), HAND, constant(4.0, 0.0, 4.0 * np.sin(0.8) * angle))
        assert (reason(scene) is None) == solved


def test_an_elbow_that_bends_about_several_of_its_axes() -> None:
    told = reason(hi_scene((0.0, 0.3, 0.8)))
    cause = "bends about several of its axes from the preferred pose, where IKHISolver differs from the limb formulae"
    assert told == f"joint 'forearm' {cause}"


def test_an_active_axis_oblique_to_the_plane_normal() -> None:
    """The bones lie in the plane of x and y, so the normal is axis z; but with y turned, axis x has a part along it."""
    elbow = np.array([0.2, 0.4, 0.5])
    rotation = local_matrix(np.zeros(3), elbow, np.ones(3), np.array([0.0, 0.0, 0.0, 1.0]))[:3, :3]
    bone = np.array([3.0, 2.0, 0.0]) @ rotation.T
    scene = at(hi_scene(elbow.tolist()), HAND, constant(*bone))
    assert "bends about several of its axes" in (reason(scene) or "")
    assert reason(with_joint(scene, ELBOW, inactive_axes="x")) is None


@pytest.mark.parametrize("angle", [0.0, 0.9e-3, np.pi, np.nan, np.inf])
def test_a_preferred_pose_without_a_plane(angle: float) -> None:
    told = reason(hi_scene((0.0, 0.0, angle)))
    assert told == "joint 'forearm' makes no plane at the preferred pose: its bones are straight there, or not finite"
    assert reason(hi_scene((0.0, 0.0, 1.1e-3))) is None


def test_a_bone_without_length() -> None:
    assert "makes no plane" in (reason(at(hi_scene(), HAND, constant(0.0, 0.0, 0.0))) or "")


def test_preferred_angles_that_change_are_checked_in_every_frame() -> None:
    def bending(*last: float) -> Scene:
        return with_joint(hi_scene(), ELBOW, preferred=LinearTrack((0, 160), ((0.0, 0.0, 0.8), last)))

    assert reason(bending(0.0, 0.0, 1.2)) is None
    assert "bends about several of its axes" in (reason(bending(0.0, 0.3, 0.8)) or "")
    assert (reason(bending(0.0, 0.3, 0.8)) or "").endswith("at tick 160")
    assert reason(bending(0.0, 0.3, 0.8), ONE_FRAME) is None


def test_extensions_that_change_are_checked_in_every_frame() -> None:
    def reaching(*last: float) -> Scene:
        return at(hi_scene(), HAND, LinearTrack((0, 160), ((4.0, 0.0, 0.0), last)))

    assert reason(reaching(5.0, 0.0, 0.0)) is None
    assert (reason(reaching(4.0, 0.0, 1.0)) or "").endswith("at tick 160")


@pytest.mark.parametrize(("index", "name"), [(1, "upper arm"), (2, "forearm")])
def test_limits_that_are_on(index: int, name: str) -> None:
    told = reason(with_joint(hi_scene(), index, limited_axes="z"))
    assert told == f"joint {name!r} has limits on (z), which IKHISolver keeps to and the limb formulae do not"
    limb = with_joint(limb_scene(), index, limited_axes="z")
    assert bake_scene(limb, TWO_FRAMES)[1]["chains_not_solved"] == []


def test_a_start_joint_with_an_axis_off() -> None:
    told = reason(with_joint(hi_scene(), 1, inactive_axes="x"))
    assert told == "joint 'upper arm' has axes off (x), which IKHISolver does not turn and the limb formulae do"


def test_a_joint_without_a_joint_controller() -> None:
    assert (
        reason(with_node(hi_scene(), ELBOW, joint=None)) == "joint 'forearm' has no IK joint controller, so no preferred angles"
    )


def test_a_joint_that_another_chain_drives() -> None:
    scene = limb_scene()
    scene = replace(scene, chains=(*scene.chains, replace(scene.chains[0], name="again", solver=HI)))
    _, certificate = bake_scene(scene, SKIPPED)
    assert certificate["chains_not_solved"][0]["reason"] == "joint 'upper arm' is already solved by the chain 'arm'"
    refused = replace(scene, chains=(replace(scene.chains[1], start=0), scene.chains[0]))
    _, certificate = bake_scene(refused, SKIPPED)
    assert [entry["name"] for entry in certificate["chains"]] == ["arm"]


def test_a_joint_below_another_node() -> None:
    linked = with_node(hi_scene(), ELBOW, links=Links((0,), (0,)))
    assert reason(linked) == "joint 'forearm' hangs below other nodes by a Link Constraint"
    scene = hi_scene()
    bound = replace(scene.nodes[ELBOW].transform, position=PositionConstraint((0,), (constant(1.0),), (0.0, 0.0, 0.0)))
    told = reason(with_node(scene, ELBOW, transform=bound))
    assert told == "the position of joint 'forearm' is set by a constraint to other nodes"


def test_a_chain_with_a_spline_to_follow() -> None:
    spline = LinearTrack((0,), ((0.0,),))
    assert "follows none" in (reason(hi_scene(spline=SplineGoal(4, spline, spline))) or "")


def test_joints_of_the_chain_may_be_scaled() -> None:
    scene = with_chain(limb_scene(start_scale=(-1.0, -1.0, -1.0), goal=(3.0, 1.0, 3.0)), solver=HI)
    _, certificate = bake_scene(scene, ONE_FRAME)
    assert certificate["chains"][0]["worst_goal_miss_in_reach"] < 1e-4


# ---- refused, or left FK ----


def unsolvable(**changes: object) -> Scene:
    return hi_scene((0.0, 0.3, 0.8), **changes)


@pytest.mark.parametrize("spill", [False, True])
def test_a_scene_with_an_unsupported_chain_is_refused_and_baked_when_it_may_be_skipped(spill: bool) -> None:  # noqa: FBT001
    with pytest.raises(SceneError) as caught:
        bake_scene(unsolvable(), replace(ONE_FRAME, spill=spill))
    assert caught.value.exit_code == 1
    assert str(caught.value) == (
        "test: the chain 'arm' (IKHISolver) is not evaluated: joint 'forearm' bends about several of its axes from the "
        "preferred pose, where IKHISolver differs from the limb formulae (leave it FK with --skip-unsupported)"
    )
    baked, certificate = bake_scene(unsolvable(), replace(ONE_FRAME, spill=spill, skip_unsupported=True))
    assert certificate["chains"] == []
    assert [entry["name"] for entry in certificate["chains_not_solved"]] == ["arm"]
    euler = baked.nodes[1].euler
    assert euler is not None
    assert (euler == np.array([[0.1, 0.2, 0.3]], np.float32)).all()


def test_a_solver_of_another_name_is_refused() -> None:
    scene = with_chain(limb_scene(), solver="HomeMade")
    with pytest.raises(SceneError, match=r"'arm' \(HomeMade\) is not evaluated: the solver 'HomeMade' is not one that"):
        bake_scene(scene, TWO_FRAMES)
    assert "'HomeMade'" in (reason(scene) or "")


def test_every_refused_chain_is_named() -> None:
    scene = unsolvable()
    scene = replace(scene, chains=(*scene.chains, replace(scene.chains[0], name="again")))
    with pytest.raises(SceneError, match=r"'arm'.*'again'"):
        bake_scene(scene, TWO_FRAMES)


def test_an_unsupported_chain_that_is_never_enabled_is_no_cause_to_refuse() -> None:
    switched_on = LinearTrack((0, 480), ((0.0,), (1.0,)))
    for enabled, frames, refused in ((constant(0.0), 9, False), (switched_on, 1, False), (switched_on, 2, True)):
        scene, options = unsolvable(enabled=enabled), BakeOptions(frames=(0, frames))
        if refused:
            with pytest.raises(SceneError):
                bake_scene(scene, options)
        else:
            assert bake_scene(scene, options)[1]["chains_not_solved"]


def test_a_limb_that_the_reference_refuses_is_named_and_not_refused() -> None:
    _, certificate = bake_scene(with_chain(limb_scene(), start=0), TWO_FRAMES)
    assert "accepts 2 or 3 joints" in certificate["chains_not_solved"][0]["reason"]


@pytest.mark.parametrize("spill", [[], ["--spill"]])
def test_the_command_line_refuses_and_skips(spill: list[str], tmp_path: Path, capsys: Captured) -> None:
    write_scene_json(unsolvable(), tmp_path / "x.scene.json")
    arguments = ["bake", str(tmp_path / "x.scene.json"), "-o", str(tmp_path / "x.npz"), "--range", "0:0", *spill]
    assert main(arguments) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert all(part in line for part in ("x.scene.json", "'arm'", "IKHISolver", "'forearm'", "--skip-unsupported"))
    assert not (tmp_path / "x.npz").exists()
    assert main([*arguments, "--skip-unsupported"]) == 0
    assert "not solved: 'arm' (IKHISolver): joint 'forearm' bends" in capsys.readouterr().out
    assert (tmp_path / "x.npz").exists()


def test_the_command_line_shows_the_method(tmp_path: Path, capsys: Captured) -> None:
    write_scene_json(hi_scene(), tmp_path / "x.scene.json")
    assert main(["bake", str(tmp_path / "x.scene.json"), "-o", str(tmp_path / "x.npz"), "--range", "0:1"]) == 0
    assert f"solved: 'arm' (IKHISolver, {LABEL}), 2 frames, worst miss in reach" in capsys.readouterr().out


def test_methods_of_other_chains_are_named() -> None:
    assert bake_scene(with_chain(limb_scene(), end=2), ONE_FRAME)[1]["chains"][0]["method"] == "one-joint chain"


def test_inspect_says_how_a_chain_would_be_solved_or_why_not() -> None:
    solved, refused = inspect_scene(hi_scene()), inspect_scene(unsolvable())
    assert (solved["chains"][0]["method"], solved["chains"][0]["not_solved"]) == (LABEL, None)
    assert f"    solved by maxik: {LABEL}" in list(render(solved))
    assert refused["chains"][0]["method"] is None
    assert refused["chains"][0]["not_solved"] == reason(unsolvable())
    assert f"    not solved: {reason(unsolvable())}" in list(render(refused))


def test_inspect_looks_at_the_whole_range() -> None:
    preferred = LinearTrack((0, 4800), ((0.0, 0.0, 0.8), (0.0, 0.3, 0.8)))
    scene = with_joint(hi_scene(), ELBOW, preferred=preferred)
    assert "bends about several" in inspect_scene(scene)["chains"][0]["not_solved"]
    assert inspect_scene(replace(scene, last_tick=-1))["chains"][0]["method"] == LABEL


@pytest.mark.shared
def test_a_real_scene_with_longer_hi_chains(shared: Path, tmp_path: Path, capsys: Captured) -> None:
    arguments = ["bake", str(shared / "maxfiles" / CHARACTER), "-o", str(tmp_path / "x.npz"), "--range", "0:1"]
    assert main(arguments) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.count("there are 5") == 2
    assert main([*arguments, "--skip-unsupported"]) == 0
    assert capsys.readouterr().out.count("not solved: ") == 2
