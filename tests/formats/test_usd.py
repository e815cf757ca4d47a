"""USD opened by usd-core: joints lie where the bake has them, and the checker has nothing to say."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pxr import Gf, Usd, UsdGeom, UsdSkel, UsdValidation

from maxik.bake import BakeOptions, bake_file, bake_scene
from maxik.cli import main
from maxik.formats.skeleton import skeleton_joints
from maxik.formats.usd import render_usda, render_usdc
from maxik.scene.motion import BakedScene
from rigs import limb_scene, node

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def opened(path: Path, data: bytes) -> Any:  # noqa: ANN401 - usd-core has no types
    path.write_bytes(data)
    return Usd.Stage.Open(str(path))


def worst_miss(stage: Any, baked: BakedScene) -> float:  # noqa: ANN401
    """Return the largest distance between joints in USD and in the bake, parts of the scene's size, ten frames."""
    skeleton = UsdSkel.Skeleton(next(prim for prim in stage.Traverse() if prim.IsA(UsdSkel.Skeleton)))
    cache = UsdSkel.Cache()
    cache.Populate(UsdSkel.Root(stage.GetDefaultPrim()), Usd.PrimDefaultPredicate)
    query = cache.GetSkelQuery(skeleton)
    names = list(skeleton.GetPrim().GetAttribute("maxik:jointNames").Get())
    indices = [next(i for i in skeleton_joints(baked) if baked.scene.nodes[i].name == name) for name in names]
    frames = len(baked.ticks)
    worlds = np.array([np.broadcast_to(baked.nodes[i].world_tm, (frames, 4, 3))[:, 3] for i in indices], np.float64)
    size = float(np.ptp(worlds, axis=(0, 1)).max())
    worst = 0.0
    for frame in np.linspace(0, frames - 1, 10).astype(int).tolist():
        transforms = query.ComputeJointSkelTransforms(Usd.TimeCode(frame))
        for row, matrix in enumerate(transforms):
            worst = max(worst, float(np.linalg.norm(np.array(matrix.ExtractTranslation()) - worlds[row, frame])) / size)
    return worst


@pytest.mark.parametrize("name", ["walk", "snake"])
@pytest.mark.parametrize(("ending", "render"), [("usda", render_usda), ("usdc", render_usdc)])
def test_joints_lie_where_the_bake_has_them(name: str, ending: str, render: Any, tmp_path: Path) -> None:  # noqa: ANN401
    baked, certificate = bake_file(EXAMPLES / f"{name}.scene.json")
    stage = opened(tmp_path / f"x.{ending}", render(baked, certificate))
    assert worst_miss(stage, baked) < 2e-6
    assert UsdGeom.GetStageMetersPerUnit(stage) == baked.scene.units.metres
    assert UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.z
    assert (stage.GetEndTimeCode(), stage.GetTimeCodesPerSecond()) == (len(baked.ticks) - 1, baked.frame_rate)
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    assert len(validators) > 5
    assert [error.GetMessage() for error in UsdValidation.ValidationContext(validators).Validate(stage)] == []


def test_mirrored_and_scaled_joints_keep_their_places(tmp_path: Path) -> None:
    scene = limb_scene(root=node("root", None, scale=(-1.0, 1.5, 0.75), scale_axis=(0.6, 0.0, 0.0, 0.8)))
    baked, certificate = bake_scene(scene, BakeOptions(frames=(0, 11)))
    assert worst_miss(opened(tmp_path / "x.usda", render_usda(baked, certificate)), baked) < 2e-6


def test_other_nodes_carry_their_whole_world_matrix(tmp_path: Path) -> None:
    baked, certificate = bake_file(EXAMPLES / "walk.scene.json", BakeOptions(frames=(0, 9)))
    stage = opened(tmp_path / "x.usda", render_usda(baked, certificate))
    found = {prim.GetDisplayName(): UsdGeom.Xformable(prim) for prim in stage.Traverse() if prim.IsA(UsdGeom.Xform)}
    joints = set(skeleton_joints(baked))
    others = [index for index in range(len(baked.nodes)) if index not in joints]
    assert others
    for index in others:
        world = baked.nodes[index].world_tm
        matrix: Any = found[baked.scene.nodes[index].name].ComputeLocalToWorldTransform(Usd.TimeCode(7))
        assert (np.array(matrix)[:, :3] == world[7 if len(world) > 1 else 0].astype(np.float64)).all()
        assert isinstance(matrix, Gf.Matrix4d)


def test_without_usd_core_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pxr", None)
    out = tmp_path / "x.usdc"
    assert main(["bake", str(EXAMPLES / "walk.scene.json"), "-o", str(out), "--range", "0:1"]) == 2
    assert "maxik[usd]" in capsys.readouterr().err
    assert not out.exists()
