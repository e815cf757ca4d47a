"""A baked scene as glTF 2.0 binary (.glb): every node, the animation, and a skeleton that viewers show as bones.

Below one root node, which turns Z up to Y up, stands every scene node under its own name with its translation in metres, its
rotation and scale; composing them gives every world position. (Units are not left to the root's scale: Blender's importer
misplaces what hangs on a bone of a scaled armature.) 3ds Max writes rows (local = scale *
rotation * translation), glTF columns (T * R * S): the same product. A scale about turned axes, S = Q^T * diag(s) * Q, is
no TRS: such a node becomes two, the named one (row matrices s, Q * R, T) and one below it (Q^T) that carries the
children.

What never changes stands in the node; what changes has a channel, with a key a frame or, reduced, as few as keep every
node where it is within the error asked for. The skeleton is a skin over all joints and what lies between them, with a
small octahedral bone mesh, so that Blender builds an armature and every viewer shows bones. A spline is a line strip on
its node, as it lies at the first frame.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxik.errors import SceneError
from maxik.formats.bone_mesh import BoneMesh, bone_mesh
from maxik.formats.quaternions import continuous, from_row_matrices
from maxik.formats.reduce import interpolated, kept_frames
from maxik.formats.skeleton import skeleton_joints
from maxik.formats.writers import WriteOptions
from maxik.scene.motion import BakedScene, NodeMotion
from maxik.scene.scene import TICKS_PER_SECOND, Node
from maxik.scene.spline_ik import curve_points
from maxik.scene.turns import Float64s, matrix_of

Json = dict[str, Any]

_FLOAT, _UNSIGNED_SHORT = 5126, 5123
_ARRAY_BUFFER = 34962
_LINE_STRIP = 3
_TYPES = {1: "SCALAR", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
_Y_UP = (-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))
"""A quarter turn back about x: (x, y, z) becomes (x, z, -y)."""
_Y_UP_ROWS = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""The same as a row matrix."""
_NO_TURN = (0.0, 0.0, 0.0, 1.0)
_CONJUGATE = (-1.0, -1.0, -1.0, 1.0)
"""Between the usual quaternions of glTF and the row matrices of turns.matrix_of."""
_TIMES_COST = 250
"""Bytes that times of its own cost a track beside the times: fewer keys that save less are not worth it."""


def render_glb(baked: BakedScene, certificate: Mapping[str, Any], options: WriteOptions | None = None) -> bytes:
    """Return the .glb file of a baked scene.

    Raises SceneError, with node and tick, where a position, rotation or scale is not finite: glTF has no NaN.
    """
    return _document(baked, certificate, options or WriteOptions()).binary()


def render_gltf(baked: BakedScene, certificate: Mapping[str, Any], options: WriteOptions | None = None) -> bytes:
    """Return the .gltf file of a baked scene: the same as JSON, its buffer embedded, so that it is one file."""
    return _document(baked, certificate, options or WriteOptions()).text()


def _document(baked: BakedScene, certificate: Mapping[str, Any], options: WriteOptions) -> _Gltf:
    file = _Gltf()
    scene = baked.scene
    name = PurePath(scene.file).name.split(".")[0] or "scene"
    file.json["asset"] = {"version": "2.0", "generator": f"maxik {version('maxik')}"}
    root = file.node({"name": name, "rotation": list(_Y_UP)})
    tracks = [_tracks(baked, node, motion) for node, motion in zip(baked.scene.nodes, baked.nodes, strict=True)]
    extras: Json = {
        "frame_rate": baked.frame_rate,
        "first_tick": int(baked.ticks[0]),
        "source": scene.file,
        "raw_output_sha256": certificate.get("raw_output_sha256"),
    }
    if options.reduce > 0.0:
        tracks, extras["reduced"] = _reduced(baked, tracks, options.reduce)
    file.json["scene"] = 0
    file.json["scenes"] = [{"name": name, "nodes": [root], "extras": extras}]
    placed = _place_nodes(file, baked, root, tracks)
    _add_splines(file, baked, placed)
    joints = skeleton_joints(baked) if options.bones else []
    if joints:
        _add_skin(file, baked, placed, joints)
    return file


@dataclass(frozen=True)
class _Track:
    """One animated property: a row a frame, or one row, binary64, metres; `kept`: the frames that are keys (None: all)."""

    values: Float64s
    rotation: bool = False
    kept: NDArray[np.int64] | None = None

    @property
    def still(self) -> bool:
        """Tell whether the stored float32 values never change."""
        stored = self.values.astype(np.float32)
        return len(stored) == 1 or bool((stored == stored[0]).all())

    def seen(self) -> Float64s:
        """Return the values that a reader sees in every frame."""
        return self.values if self.kept is None else interpolated(self.values, self.kept, rotation=self.rotation)


@dataclass(frozen=True)
class _Tracks:
    """The tracks of one scene node; `axes`: the rotation of the node below it, where its scale has turned axes."""

    translation: _Track
    rotation: _Track
    scale: _Track
    axes: _Track | None


def _tracks(baked: BakedScene, node: Node, motion: NodeMotion) -> _Tracks:
    _refuse_non_finite(baked, node, motion)
    rotation, axes = _split_rotation(motion)
    return _Tracks(
        _Track(motion.position.astype(np.float64) * baked.scene.units.metres),
        _Track(rotation, rotation=True),
        _Track(motion.scale.astype(np.float64)),
        None if axes is None else _Track(axes, rotation=True),
    )


def _reduced(baked: BakedScene, tracks: list[_Tracks], error: float) -> tuple[list[_Tracks], Json]:
    """Return tracks of fewer keys, and what is said of them in the file.

    `error`: parts of the scene's size for world positions, and radians for world rotations, over all nodes and frames.
    What each track may be off by itself is halved until the whole keeps to it, since errors add up along a chain.
    """
    exact = _worlds(baked, tracks)
    size = float(np.ptp(exact[:, :, 3, :3], axis=(0, 1)).max()) or 1.0
    own = 4.0 * error
    while True:
        found = [_fewer(entry, own, size) for entry in tracks]
        worlds = _worlds(baked, found)
        off = float(np.linalg.norm(worlds[:, :, 3, :3] - exact[:, :, 3, :3], axis=2).max()) / size
        turned = float(np.linalg.norm(worlds[:, :, :3, :3] - exact[:, :, :3, :3], axis=(2, 3)).max())
        if max(off, turned) <= error or own < error * 1e-6:
            return found, {"asked": error, "position_error": off, "axes_error": turned}
        own /= 2.0


def _fewer(tracks: _Tracks, own: float, size: float) -> _Tracks:
    def fewer(track: _Track, tolerance: float) -> _Track:
        if track.still:
            return track
        kept = kept_frames(track.values, tolerance, rotation=track.rotation)
        saved = 4 * track.values.shape[1] * (len(track.values) - len(kept))
        return replace(track, kept=kept) if saved > 4 * len(kept) + _TIMES_COST else track

    return _Tracks(
        fewer(tracks.translation, own * size),
        fewer(tracks.rotation, own),
        fewer(tracks.scale, own * float(np.abs(tracks.scale.values).max())),
        None if tracks.axes is None else fewer(tracks.axes, own),
    )


def _worlds(baked: BakedScene, tracks: list[_Tracks]) -> Float64s:
    """Return every node's world matrix as a reader composes it, row vectors, (N, F, 4, 4), metres, Z up."""
    frames = len(baked.ticks)
    worlds = np.zeros((len(tracks), frames, 4, 4))
    pending = list(range(len(tracks)))
    done: set[int] = set()
    while pending:
        index = pending.pop(0)
        parent = baked.scene.nodes[index].parent
        if parent is not None and parent not in done:
            pending.append(index)
            continue
        local = np.zeros((frames, 4, 4))
        entry = tracks[index]
        rotation = matrix_of(entry.rotation.seen() * _CONJUGATE)
        local[:, :3, :3] = entry.scale.seen()[:, :, None] * rotation
        if entry.axes is not None:
            local[:, :3, :3] = matrix_of(entry.axes.seen() * _CONJUGATE) @ local[:, :3, :3]
        local[:, 3, :3] = entry.translation.seen()
        local[:, 3, 3] = 1.0
        worlds[index] = local if parent is None else local @ worlds[parent]
        done.add(index)
    return worlds


def _add_splines(file: _Gltf, baked: BakedScene, placed: list[_Placed]) -> None:
    """Hang a line strip on every node that is a spline, as the curve lies at the first frame."""
    for node, place in zip(baked.scene.nodes, placed, strict=True):
        if node.shape is None or node.shape.helpers or len(node.shape.knots) < 2:  # noqa: PLR2004 - a curve
            continue
        points = curve_points(node.shape) * baked.scene.units.metres
        primitive = {"attributes": {"POSITION": file.accessor(points, _ARRAY_BUFFER, bounds=True)}, "mode": _LINE_STRIP}
        meshes = file.json.setdefault("meshes", [])
        meshes.append({"name": node.name, "primitives": [primitive]})
        file.link(place.inner, file.node({"name": f"{node.name} (spline)", "mesh": len(meshes) - 1}))


@dataclass(frozen=True)
class _Placed:
    """Where a scene node stands in the file: the node that bears its name, and the one that carries its children."""

    outer: int
    inner: int


def _place_nodes(file: _Gltf, baked: BakedScene, root: int, tracks: list[_Tracks]) -> list[_Placed]:
    """Add every scene node and its channels; parents are linked when all exist, since they may come later."""
    seconds = (baked.ticks - baked.ticks[0]).astype(np.float64) / TICKS_PER_SECOND
    placed = []
    for node, entry in zip(baked.scene.nodes, tracks, strict=True):
        outer = file.node({"name": node.name})
        inner = outer if entry.axes is None else file.node({"name": f"{node.name} (scale axes)"})
        file.track(outer, "translation", entry.translation, (0.0, 0.0, 0.0), seconds)
        file.track(outer, "rotation", entry.rotation, _NO_TURN, seconds)
        file.track(outer, "scale", entry.scale, (1.0, 1.0, 1.0), seconds)
        if entry.axes is not None:
            file.track(inner, "rotation", entry.axes, _NO_TURN, seconds)
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


def _add_skin(file: _Gltf, baked: BakedScene, placed: list[_Placed], joints: list[int]) -> None:
    """Add skin, inverse bind matrices of the first frame, and the bone mesh in the root's space."""
    mesh = bone_mesh(baked, joints)
    bind = np.zeros((len(joints), 4, 4))
    for row, index in enumerate(joints):
        world = baked.nodes[index].world_tm[0].astype(np.float64)
        world[3] *= baked.scene.units.metres
        world = world @ _Y_UP_ROWS
        bind[row, :3, :3] = np.linalg.pinv(world[:3])
        bind[row, 3, :3] = -world[3] @ bind[row, :3, :3]
        bind[row, 3, 3] = 1.0
    matrices = file.accessor(bind.reshape(len(joints), 16), None)
    skin = {"name": "skeleton", "joints": [placed[index].inner for index in joints], "inverseBindMatrices": matrices}
    file.json["skins"] = [skin]
    grey = {"baseColorFactor": [0.55, 0.6, 0.7, 1.0], "metallicFactor": 0.0}
    file.json["materials"] = [{"name": "bones", "pbrMetallicRoughness": grey}]
    meshes = file.json.setdefault("meshes", [])
    meshes.append({"name": "bones", "primitives": [_primitive(file, mesh, baked)]})
    file.json["scenes"][0]["nodes"].append(file.node({"name": "bones", "mesh": len(meshes) - 1, "skin": 0}))


def _primitive(file: _Gltf, mesh: BoneMesh, baked: BakedScene) -> Json:
    positions = mesh.positions * baked.scene.units.metres @ _Y_UP_ROWS
    normals = mesh.normals @ _Y_UP_ROWS
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
    time_accessors: dict[bytes, int] = field(default_factory=dict)

    def node(self, entry: Json) -> int:
        """Add a node and return its index."""
        nodes = self.json.setdefault("nodes", [])
        nodes.append(entry)
        return len(nodes) - 1

    def link(self, parent: int, child: int) -> None:
        """Hang a node below another."""
        self.json["nodes"][parent].setdefault("children", []).append(child)

    def times(self, seconds: Float64s) -> int:
        """Return the time accessor of these keys; samplers with the same keys share one."""
        key = seconds.tobytes()
        if key not in self.time_accessors:
            self.time_accessors[key] = self.accessor(seconds[:, None], None, bounds=True)
        return self.time_accessors[key]

    def track(self, node: int, path: str, track: _Track, neutral: tuple[float, ...], seconds: Float64s) -> None:
        """Set a node's property to its first value and, where it changes, animate it."""
        stored = track.values.astype(np.float32)
        first = stored[0].astype(float).tolist()
        if first != list(neutral):
            self.json["nodes"][node][path] = first
        if track.still:
            return
        kept = slice(None) if track.kept is None else track.kept
        keys = self.times(seconds[kept])
        self.samplers.append({"input": keys, "interpolation": "LINEAR", "output": self.accessor(stored[kept], None)})
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
        text = self._finished(None)
        text += b" " * (-len(text) % 4)
        parts = [struct.pack("<I4s", len(text), b"JSON") + text]
        if self.buffer:
            parts.append(struct.pack("<I4s", len(self.buffer), b"BIN\0") + bytes(self.buffer))
        body = b"".join(parts)
        return struct.pack("<4sII", b"glTF", 2, 12 + len(body)) + body

    def text(self) -> bytes:
        """Return the whole .gltf, the buffer embedded."""
        return self._finished("data:application/octet-stream;base64," + base64.b64encode(self.buffer).decode())

    def _finished(self, uri: str | None) -> bytes:
        if self.channels:
            self.json["animations"] = [{"name": "bake", "samplers": self.samplers, "channels": self.channels}]
        if self.buffer:
            self.json["buffers"] = [{"byteLength": len(self.buffer), **({} if uri is None else {"uri": uri})}]
        return json.dumps(self.json, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
