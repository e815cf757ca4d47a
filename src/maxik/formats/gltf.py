"""A baked scene as glTF 2.0 binary (.glb): every node, the animation, and a skeleton that viewers show as bones.

Below one root node, which turns Z up to Y up and scene units to metres, stands every scene node under its own name with
its translation, rotation and scale; composing them gives every world position. 3ds Max writes rows (local = scale *
rotation * translation), glTF columns (T * R * S): the same product. A scale about turned axes, S = Q^T * diag(s) * Q, is
no TRS: such a node becomes two, the named one (row matrices s, Q * R, T) and one below it (Q^T) that carries the
children.

What never changes stands in the node; what changes has a channel. The skeleton is a skin over all joints and what lies
between them, with a small octahedral bone mesh, so that Blender builds an armature and every viewer shows bones.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxik.errors import SceneError
from maxik.formats.bone_mesh import BoneMesh, bone_mesh
from maxik.formats.quaternions import continuous, from_row_matrices
from maxik.formats.writers import WriteOptions
from maxik.scene.motion import BakedScene, NodeMotion
from maxik.scene.scene import TICKS_PER_SECOND, Node
from maxik.scene.turns import Float64s, matrix_of

Json = dict[str, Any]

_FLOAT, _UNSIGNED_SHORT = 5126, 5123
_ARRAY_BUFFER = 34962
_TYPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
_Y_UP = (-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))
"""A quarter turn back about x: (x, y, z) becomes (x, z, -y)."""
_NO_TURN = (0.0, 0.0, 0.0, 1.0)
_BONE_CLASSES = ("Bone",)


def render_glb(
    baked: BakedScene, certificate: Mapping[str, Any], _options: WriteOptions | None = None, *, bones: bool = True
) -> bytes:
    """Return the .glb file of a baked scene; `bones` adds skin and bone mesh where the scene has joints.

    Raises SceneError, with node and tick, where a position, rotation or scale is not finite: glTF has no NaN.
    """
    file = _Gltf()
    scene = baked.scene
    metres = scene.units.metres
    name = PurePath(scene.file).name.split(".")[0] or "scene"
    file.json["asset"] = {"version": "2.0", "generator": f"maxik {version('maxik')}"}
    root = file.node({"name": name, "rotation": list(_Y_UP), "scale": [metres] * 3})
    file.json["scene"] = 0
    file.json["scenes"] = [{
        "name": name,
        "nodes": [root],
        "extras": {
            "frame_rate": baked.frame_rate,
            "first_tick": int(baked.ticks[0]),
            "source": scene.file,
            "raw_output_sha256": certificate.get("raw_output_sha256"),
        },
    }]  # fmt: skip
    placed = _place_nodes(file, baked, root)
    joints = _joints(baked) if bones else []
    if joints:
        _add_skin(file, baked, placed, joints)
    return file.binary()


@dataclass(frozen=True)
class _Placed:
    """Where a scene node stands in the file: the node that bears its name, and the one that carries its children."""

    outer: int
    inner: int


def _place_nodes(file: _Gltf, baked: BakedScene, root: int) -> list[_Placed]:
    """Add every scene node and its channels; parents are linked when all exist, since they may come later."""
    times = file.times((baked.ticks - baked.ticks[0]).astype(np.float64) / TICKS_PER_SECOND) if len(baked.ticks) > 1 else None
    placed = []
    for node, motion in zip(baked.scene.nodes, baked.nodes, strict=True):
        _refuse_non_finite(baked, node, motion)
        rotation, axes = _split_rotation(motion)
        outer = file.node({"name": node.name})
        inner = outer if axes is None else file.node({"name": f"{node.name} (scale axes)"})
        file.track(outer, "translation", motion.position.astype(np.float64), (0.0, 0.0, 0.0), times)
        file.track(outer, "rotation", rotation, _NO_TURN, times)
        file.track(outer, "scale", motion.scale.astype(np.float64), (1.0, 1.0, 1.0), times)
        if axes is not None:
            file.track(inner, "rotation", axes, _NO_TURN, times)
            file.link(outer, inner)
        placed.append(_Placed(outer, inner))
    for node, place in zip(baked.scene.nodes, placed, strict=True):
        file.link(root if node.parent is None else placed[node.parent].inner, place.outer)
    return placed


def _split_rotation(motion: NodeMotion) -> tuple[Float64s, Float64s | None]:
    """Return the node's rotation and, where its scale has turned axes, the rotation of the node below; quaternions (F, 4)."""
    uniform = (motion.scale == motion.scale[:, :1]).all()
    turned = (motion.scale_axis != np.array(_NO_TURN, np.float32)).any()
    if uniform or not turned:
        return from_row_matrices(motion.rotation), None
    axis = motion.scale_axis.astype(np.float64)
    turn = axis / np.linalg.norm(axis, axis=1, keepdims=True)
    q = matrix_of(turn)
    rotation = motion.rotation.astype(np.float64)
    rows = max(len(q), len(rotation))
    product = np.broadcast_to(q, (rows, 3, 3)) @ np.broadcast_to(rotation, (rows, 3, 3))
    return from_row_matrices(product), continuous(turn)


def _refuse_non_finite(baked: BakedScene, node: Node, motion: NodeMotion) -> None:
    for what in ("position", "rotation", "scale", "scale_axis"):
        finite = np.isfinite(getattr(motion, what)).reshape(len(getattr(motion, what)), -1).all(axis=1)
        if not finite.all():
            message = f"the {what} is not finite, which glTF cannot hold"
            raise SceneError(
                message,
                file=baked.scene.file,
                node=node.name,
                tick=int(baked.ticks[int(np.argmin(finite))]),
                hint="bake a range without that frame, or to .npz, which keeps it",
            )


def _joints(baked: BakedScene) -> list[int]:
    """Return the nodes of the skeleton: joints, bones, and whatever lies between two of them."""
    nodes = baked.scene.nodes
    is_joint = [node.joint is not None or node.object_class in _BONE_CLASSES for node in nodes]
    skeleton = set()
    for index, joint in enumerate(is_joint):
        path: list[int] = []
        at: int | None = index if joint else None
        while at is not None:
            path.append(at)
            if is_joint[at]:
                skeleton.update(path)
                path = []
            at = nodes[at].parent
    return sorted(skeleton)


def _add_skin(file: _Gltf, baked: BakedScene, placed: list[_Placed], joints: list[int]) -> None:
    """Add skin, inverse bind matrices of the first frame, and the bone mesh in the root's space."""
    mesh = bone_mesh(baked, joints)
    bind = np.zeros((len(joints), 4, 4))
    for row, index in enumerate(joints):
        world = baked.nodes[index].world_tm[0].astype(np.float64) @ _root_rows(baked)
        bind[row, :3, :3] = np.linalg.pinv(world[:3])
        bind[row, 3, :3] = -world[3] @ bind[row, :3, :3]
        bind[row, 3, 3] = 1.0
    matrices = file.accessor(bind.reshape(len(joints), 16), None)
    skin = {"name": "skeleton", "joints": [placed[index].inner for index in joints], "inverseBindMatrices": matrices}
    file.json["skins"] = [skin]
    grey = {"baseColorFactor": [0.55, 0.6, 0.7, 1.0], "metallicFactor": 0.0}
    file.json["materials"] = [{"name": "bones", "pbrMetallicRoughness": grey}]
    file.json["meshes"] = [{"name": "bones", "primitives": [_primitive(file, mesh, baked)]}]
    file.json["scenes"][0]["nodes"].append(file.node({"name": "bones", "mesh": 0, "skin": 0}))


def _root_rows(baked: BakedScene) -> Float64s:
    """Return the root node's turn and scale as a 3x3 row matrix."""
    return np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]) * baked.scene.units.metres


def _primitive(file: _Gltf, mesh: BoneMesh, baked: BakedScene) -> Json:
    rows = _root_rows(baked)
    positions = mesh.positions @ rows
    normals = mesh.normals @ (rows / baked.scene.units.metres)
    weights = np.zeros((len(positions), 4))
    weights[:, 0] = 1.0
    joints = np.zeros((len(positions), 4), np.uint16)
    joints[:, 0] = mesh.joints
    return {
        "attributes": {
            "POSITION": file.accessor(positions, _ARRAY_BUFFER, bounds=True),
            "NORMAL": file.accessor(normals, _ARRAY_BUFFER),
            "JOINTS_0": file.accessor(joints, _ARRAY_BUFFER),
            "WEIGHTS_0": file.accessor(weights, _ARRAY_BUFFER),
        },
        "material": 0,
    }


@dataclass
class _Gltf:
    """A glTF document under construction: its JSON and its one binary buffer."""

    json: Json = field(default_factory=dict)
    buffer: bytearray = field(default_factory=bytearray)
    samplers: list[Json] = field(default_factory=list)
    channels: list[Json] = field(default_factory=list)

    def node(self, entry: Json) -> int:
        """Add a node and return its index."""
        nodes = self.json.setdefault("nodes", [])
        nodes.append(entry)
        return len(nodes) - 1

    def link(self, parent: int, child: int) -> None:
        """Hang a node below another."""
        self.json["nodes"][parent].setdefault("children", []).append(child)

    def times(self, seconds: Float64s) -> int:
        """Add the time accessor that all samplers share."""
        return self.accessor(seconds[:, None], None, bounds=True)

    def track(self, node: int, path: str, values: Float64s, neutral: tuple[float, ...], times: int | None) -> None:
        """Set a node's property to its first value and, where it changes, animate it."""
        stored = values.astype(np.float32)
        first = stored[0].astype(float).tolist()
        if first != list(neutral):
            self.json["nodes"][node][path] = first
        if times is None or len(stored) == 1 or (stored == stored[0]).all():
            return
        self.samplers.append({"input": times, "interpolation": "LINEAR", "output": self.accessor(stored, None)})
        self.channels.append({"sampler": len(self.samplers) - 1, "target": {"node": node, "path": path}})

    def accessor(self, values: NDArray[Any], target: int | None, *, bounds: bool = False) -> int:
        """Add rows of numbers (N, components): uint16 as they are, all else as float32."""
        short = values.dtype == np.uint16
        data = np.ascontiguousarray(values, "<u2" if short else "<f4")
        view: Json = {"buffer": 0, "byteOffset": len(self.buffer), "byteLength": data.nbytes}
        if target is not None:
            view["target"] = target
        self.buffer += data.tobytes() + b"\0" * (-data.nbytes % 4)
        views = self.json.setdefault("bufferViews", [])
        views.append(view)
        entry: Json = {
            "bufferView": len(views) - 1,
            "componentType": _UNSIGNED_SHORT if short else _FLOAT,
            "count": len(data),
            "type": _TYPES[data.shape[1]],
        }
        if bounds:
            entry["min"], entry["max"] = data.min(axis=0).astype(float).tolist(), data.max(axis=0).astype(float).tolist()
        accessors = self.json.setdefault("accessors", [])
        accessors.append(entry)
        return len(accessors) - 1

    def binary(self) -> bytes:
        """Return the whole .glb."""
        if self.channels:
            self.json["animations"] = [{"name": "bake", "samplers": self.samplers, "channels": self.channels}]
        if self.buffer:
            self.json["buffers"] = [{"byteLength": len(self.buffer)}]
        text = json.dumps(self.json, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        parts = [struct.pack("<I4s", len(text), b"JSON") + text]
        if self.buffer:
            parts.append(struct.pack("<I4s", len(self.buffer), b"BIN\0") + bytes(self.buffer))
        body = b"".join(parts)
        return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body
