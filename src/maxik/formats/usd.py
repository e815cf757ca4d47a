"""A baked scene as USD: a UsdSkel skeleton with its animation, and every other node as an Xform; .usda text, .usdc binary.

Z up and scene units, as the bake has them (`upAxis`, `metersPerUnit` say so); USD's matrices are row matrices too. Joints are
those of the glTF skeleton, rigid: their world positions are the bake's, their frames its frames made orthonormal (a
mirrored frame with its axes reversed), since a UsdSkel animation holds scales in 16 bits and no shear. The other nodes
carry their whole world TM, scale and shear included. Time codes are frames. Names are made legal; the name in 3ds Max is
the display name, for joints the attribute `maxik:jointNames`. Needs usd-core, the extra `usd`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePath
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from maxik.errors import UsageError
from maxik.formats.quaternions import from_row_matrices
from maxik.formats.skeleton import parent_joints, rigid_world, skeleton_joints
from maxik.formats.writers import WriteOptions
from maxik.scene.motion import BakedScene
from maxik.scene.turns import Float64s


def render_usda(baked: BakedScene, certificate: Mapping[str, Any], _options: WriteOptions | None = None) -> bytes:
    """Return the .usda file; UsageError where usd-core is not installed, SceneError for a value that is not finite."""
    stage = _stage(baked, certificate)  # a layer lives as long as its stage
    text: str = stage.GetRootLayer().ExportToString()
    return text.encode()


def render_usdc(baked: BakedScene, certificate: Mapping[str, Any], _options: WriteOptions | None = None) -> bytes:
    """Return the .usdc file; errors as for .usda."""
    stage = _stage(baked, certificate)
    with tempfile.TemporaryDirectory() as folder:  # USD writes its binary form to files alone
        path = Path(folder) / "scene.usdc"
        stage.GetRootLayer().Export(str(path))
        return path.read_bytes()


def _stage(baked: BakedScene, certificate: Mapping[str, Any]) -> Any:  # noqa: ANN401 - usd-core has no types
    pxr = _pxr()
    stage = pxr.Usd.Stage.CreateInMemory()
    frames = len(baked.ticks)
    pxr.UsdGeom.SetStageUpAxis(stage, pxr.UsdGeom.Tokens.z)
    pxr.UsdGeom.SetStageMetersPerUnit(stage, baked.scene.units.metres)
    stage.SetTimeCodesPerSecond(baked.frame_rate)
    stage.SetFramesPerSecond(baked.frame_rate)
    stage.SetStartTimeCode(0)
    stage.SetEndTimeCode(frames - 1)
    title = pxr.Tf.MakeValidIdentifier(PurePath(baked.scene.file).name.split(".")[0] or "scene")
    root = pxr.UsdSkel.Root.Define(stage, f"/{title}")
    stage.SetDefaultPrim(root.GetPrim())
    root.GetPrim().SetCustomDataByKey("raw_output_sha256", str(certificate.get("raw_output_sha256", "")))
    joints = skeleton_joints(baked)
    if joints:
        _add_skeleton(pxr, stage, f"/{title}", baked, joints)
    _add_nodes(pxr, stage, f"/{title}", baked, [index for index in range(len(baked.nodes)) if index not in set(joints)])
    return stage


def _add_skeleton(pxr: SimpleNamespace, stage: Any, root: str, baked: BakedScene, joints: list[int]) -> None:  # noqa: ANN401
    nodes, frames = baked.scene.nodes, len(baked.ticks)
    parents = parent_joints(baked, joints)
    joints = sorted(joints, key=lambda index: _depth(parents, index))
    names = _legal(pxr, [nodes[index].name for index in joints])
    paths: dict[int, str] = {}
    for index, name in zip(joints, names, strict=True):
        above = parents[index]
        paths[index] = name if above is None else f"{paths[above]}/{name}"
    worlds = {index: rigid_world(baked, index) for index in joints}
    origin: tuple[Float64s, Float64s] = (np.zeros((frames, 3)), np.tile(np.eye(3), (frames, 1, 1)))
    turns, places = [], []
    for index in joints:
        above = parents[index]
        place_above, frame_above = origin if above is None else worlds[above]
        place, frame = worlds[index]
        to_parent = np.swapaxes(frame_above, 1, 2)
        places.append(np.einsum("fi,fij->fj", place - place_above, to_parent))
        turns.append(from_row_matrices(frame @ to_parent))
    tokens = [paths[index] for index in joints]
    skeleton = pxr.UsdSkel.Skeleton.Define(stage, f"{root}/skeleton")
    skeleton.CreateJointsAttr(tokens)
    bind = [_matrix(pxr, *(part[0] for part in worlds[index])) for index in joints]
    skeleton.CreateBindTransformsAttr(bind)
    rest = [_local(pxr, place[0], turn[0]) for place, turn in zip(places, turns, strict=True)]
    skeleton.CreateRestTransformsAttr(rest)
    names_of = skeleton.GetPrim().CreateAttribute("maxik:jointNames", pxr.Sdf.ValueTypeNames.StringArray)
    names_of.Set([nodes[index].name for index in joints])
    animation = pxr.UsdSkel.Animation.Define(stage, f"{root}/skeleton/bake")
    animation.CreateJointsAttr(tokens)
    animation.CreateScalesAttr([pxr.Gf.Vec3h(1.0, 1.0, 1.0)] * len(joints))
    translations, rotations = animation.CreateTranslationsAttr(), animation.CreateRotationsAttr()
    for time in range(frames):
        translations.Set([pxr.Gf.Vec3f(*place[time].tolist()) for place in places], time)
        rotations.Set([_quaternion(pxr, turn[time]) for turn in turns], time)
    binding = pxr.UsdSkel.BindingAPI.Apply(skeleton.GetPrim())
    binding.CreateAnimationSourceRel().SetTargets([animation.GetPath()])


def _add_nodes(pxr: SimpleNamespace, stage: Any, root: str, baked: BakedScene, listed: list[int]) -> None:  # noqa: ANN401
    """Add the nodes that are no joints, each with its world TM."""
    pxr.UsdGeom.Scope.Define(stage, f"{root}/nodes")
    for index, name in zip(listed, _legal(pxr, [baked.scene.nodes[index].name for index in listed]), strict=True):
        prim = pxr.UsdGeom.Xform.Define(stage, f"{root}/nodes/{name}")
        prim.GetPrim().SetDisplayName(baked.scene.nodes[index].name)
        operation = prim.AddTransformOp()
        worlds = baked.nodes[index].world_tm.astype(np.float64)
        rigid_world(baked, index)  # names what is not finite
        for time, world in enumerate(worlds):
            matrix = _matrix(pxr, world[3], world[:3])
            operation.Set(matrix) if len(worlds) == 1 else operation.Set(matrix, time)


def _matrix(pxr: SimpleNamespace, place: Float64s, rows: Float64s) -> Any:  # noqa: ANN401
    full = np.eye(4)
    full[:3, :3], full[3, :3] = rows, place
    return pxr.Gf.Matrix4d(*full.reshape(16).tolist())


def _local(pxr: SimpleNamespace, place: Float64s, turn: Float64s) -> Any:  # noqa: ANN401
    matrix = pxr.Gf.Matrix4d()
    matrix.SetRotate(pxr.Gf.Quatd(float(turn[3]), pxr.Gf.Vec3d(*turn[:3].tolist())))
    matrix.SetTranslateOnly(pxr.Gf.Vec3d(*place.tolist()))
    return matrix


def _quaternion(pxr: SimpleNamespace, turn: Float64s) -> Any:  # noqa: ANN401
    x, y, z, w = turn.tolist()
    return pxr.Gf.Quatf(w, x, y, z)


def _legal(pxr: SimpleNamespace, names: list[str]) -> list[str]:
    """Return legal USD names, each different."""
    result: list[str] = []
    for name in names:
        legal = pxr.Tf.MakeValidIdentifier(name)
        found, number = legal, 2
        while found in result:
            found, number = f"{legal}_{number}", number + 1
        result.append(found)
    return result


def _depth(parents: Mapping[int, int | None], index: int) -> int:
    depth = 0
    above = parents[index]
    while above is not None:
        depth, above = depth + 1, parents[above]
    return depth


def _pxr() -> SimpleNamespace:
    try:
        from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdSkel  # noqa: PLC0415 - an extra
    except ImportError as error:
        message = "a USD file needs usd-core, which is not installed"
        raise UsageError(message, hint="pip install 'maxik[usd]'") from error
    modules: dict[str, ModuleType] = {"Gf": Gf, "Sdf": Sdf, "Tf": Tf, "Usd": Usd, "UsdGeom": UsdGeom, "UsdSkel": UsdSkel}
    return SimpleNamespace(**modules)
