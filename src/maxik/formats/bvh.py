"""A baked scene as BVH: the skeleton's hierarchy and its motion, for Blender, MotionBuilder and retargeters.

Y up, scene units (BVH has none). The joints are those of the glTF skeleton; a scene without any gives all its nodes. A root
of its own, named after the scene, stands above them where there are several. Every joint's world position is that of the
bake: BVH knows no scale and no mirroring, so offsets are differences of world positions in the parent's frame made
orthonormal (a mirrored frame with its three axes reversed). A joint that keeps its place in the parent's frame has
rotation channels alone; any other has position channels too, and a zero OFFSET, so that readers that add it and readers
that replace it agree. Angles are continuous over time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np

from maxik.errors import UsageError
from maxik.formats.skeleton import parent_joints, rigid_world, skeleton_joints
from maxik.formats.writers import WriteOptions
from maxik.scene.motion import BakedScene
from maxik.scene.turns import Float64s

STILL = 1e-6
"""Parts of the skeleton's size within which a joint counts as keeping its place in the parent's frame."""
_Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
_LEAF = 0.3
_GIMBAL = 1e-9


@dataclass(frozen=True)
class BvhJoint:
    """A joint: its name in the file, its parent's place in the list, and what its channels hold.

    `offset` (3,); `positions` (F, 3), None where the joint keeps its offset; `degrees` (F, 3) in the order of the channels.
    """

    name: str
    parent: int | None
    offset: Float64s
    positions: Float64s | None
    degrees: Float64s


def render_bvh(baked: BakedScene, _certificate: Mapping[str, Any], options: WriteOptions | None = None) -> bytes:
    """Return the BVH file. UsageError for an order that is none, SceneError, with node and tick, for a value not finite."""
    order = (options or WriteOptions()).bvh_order.lower()
    if sorted(order) != ["x", "y", "z"]:
        message = f"--bvh-order {order!r} is not an order of x, y and z"
        raise UsageError(message)
    joints = bvh_joints(baked, order)
    hierarchy, written = _hierarchy(joints, order)
    moving = [joints[place] for place in written]
    columns = [part for joint in moving for part in (joint.positions, joint.degrees) if part is not None]
    rows = np.concatenate(columns, axis=1)
    lines = ["HIERARCHY", *hierarchy, "MOTION", f"Frames: {len(rows)}", f"Frame Time: {1.0 / baked.frame_rate:.9g}"]
    lines += [" ".join(f"{value:.9g}" for value in row) for row in (rows + 0.0).tolist()]
    return ("\n".join(lines) + "\n").encode()


def bvh_joints(baked: BakedScene, order: str) -> list[BvhJoint]:
    """Return the joints, parents first, the root at 0."""
    nodes, frames = baked.scene.nodes, len(baked.ticks)
    listed = skeleton_joints(baked) or list(range(len(nodes)))
    listed.sort(key=lambda index: len(_ancestors(baked, index)))
    parent_of = parent_joints(baked, listed)
    roots = [index for index in listed if parent_of[index] is None]
    names = _unique_names([nodes[index].name for index in listed])
    places = {index: _world(baked, index) for index in listed}
    every = np.concatenate([position for position, _ in places.values()])
    size = float(np.ptp(every, axis=0).max()) or 1.0
    still = np.zeros((frames, 3)), np.broadcast_to(np.eye(3), (frames, 3, 3))
    result: list[BvhJoint] = []
    row: dict[int, int] = {}
    if len(roots) != 1:
        top = PurePath(baked.scene.file).name.split(".")[0] or "scene"
        nothing = np.zeros((frames, 3))
        result.append(BvhJoint(_unique_names([*names, top])[-1], None, np.zeros(3), nothing, nothing))
    for index, name in zip(listed, names, strict=True):
        parent = parent_of[index]
        above, frame_above = still if parent is None else places[parent]
        position, frame = places[index]
        local = np.einsum("fi,fij->fj", position - above, np.swapaxes(frame_above, 1, 2))
        turn = frame @ np.swapaxes(frame_above, 1, 2)
        top_of = (0 if len(roots) != 1 else None) if parent is None else row[parent]
        fixed = top_of is not None and bool((np.ptp(local, axis=0) <= STILL * size).all())
        degrees = np.degrees(euler_angles(np.swapaxes(turn, 1, 2), order))
        row[index] = len(result)
        result.append(BvhJoint(name, top_of, local[0] if fixed else np.zeros(3), None if fixed else local, degrees))
    return result


def euler_angles(columns: Float64s, order: str) -> Float64s:
    """Return the angles (F, 3) of column matrices (F, 3, 3) = R_a * R_b * R_c, a, b, c the letters of `order`, radians.

    Continuous: of the two triples that give a matrix, and of all whole turns, the one next to the frame before. At the
    gimbal the third angle is that of the frame before.
    """
    i, j, k = ("xyz".index(axis) for axis in order)
    sign = 1.0 if (j - i) % 3 == 1 else -1.0
    angles = np.zeros((len(columns), 3))
    before = np.zeros(3)
    for frame, m in enumerate(columns):
        middle = np.arctan2(sign * m[i, k], np.hypot(m[i, i], m[i, j]))
        if np.hypot(m[i, i], m[i, j]) > _GIMBAL:
            first, last = np.arctan2(-sign * m[j, k], m[k, k]), np.arctan2(-sign * m[i, j], m[i, i])
        else:
            last = before[2]
            alone = m @ _turn(k, last).T @ _turn(j, middle).T
            first = np.arctan2(alone[(i + 2) % 3, (i + 1) % 3], alone[(i + 1) % 3, (i + 1) % 3])
        one = np.array([first, middle, last])
        other = np.array([first + np.pi, np.pi - middle, last + np.pi])
        near = [triple + 2.0 * np.pi * np.round((before - triple) / (2.0 * np.pi)) for triple in (one, other)]
        before = angles[frame] = min(near, key=lambda triple: float(np.abs(triple - before).sum()))
    return angles


def _turn(axis: int, angle: float) -> Float64s:
    """Return the column matrix of a turn about x, y or z (0, 1, 2)."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    m = np.eye(3)
    m[j, j] = m[k, k] = np.cos(angle)
    m[k, j] = np.sin(angle)
    m[j, k] = -m[k, j]
    return m


def _world(baked: BakedScene, index: int) -> tuple[Float64s, Float64s]:
    """Return world positions (F, 3) and rigid frames (F, 3, 3), row matrices, Y up."""
    place, frame = rigid_world(baked, index)
    return place @ _Y_UP, _Y_UP.T @ frame @ _Y_UP


def _ancestors(baked: BakedScene, index: int) -> list[int]:
    found = []
    at = baked.scene.nodes[index].parent
    while at is not None:
        found.append(at)
        at = baked.scene.nodes[at].parent
    return found


def _unique_names(names: list[str]) -> list[str]:
    """Return names without white space or braces, each different: "Bip01 L Hand" is Bip01_L_Hand, repeated ones get _2, _3."""
    result: list[str] = []
    for name in names:
        plain = "".join("_" if letter.isspace() or letter in "{}:" else letter for letter in name) or "_"
        found, number = plain, 2
        while found in result:
            found, number = f"{plain}_{number}", number + 1
        result.append(found)
    return result


def _hierarchy(joints: list[BvhJoint], order: str) -> tuple[list[str], list[int]]:
    """Return the lines of the hierarchy, and the joints in the order in which they stand there."""
    lines: list[str] = []
    written: list[int] = []
    rotations = " ".join(f"{axis.upper()}rotation" for axis in order)
    pending: list[tuple[int | None, int]] = [(0, 0)]
    while pending:
        place, level = pending.pop()
        indent = "  " * level
        if place is None:
            lines.append(f"{indent}}}")
            continue
        joint = joints[place]
        written.append(place)
        children = [index for index, other in enumerate(joints) if other.parent == place]
        channels = f"6 Xposition Yposition Zposition {rotations}" if joint.positions is not None else f"3 {rotations}"
        lines += [f"{indent}{'JOINT' if level else 'ROOT'} {joint.name}", f"{indent}{{"]
        lines += [f"{indent}  OFFSET {_triple(joint.offset)}", f"{indent}  CHANNELS {channels}"]
        if not children:
            length = _LEAF * (float(np.linalg.norm(joint.offset)) or 1.0)
            lines += [f"{indent}  End Site", f"{indent}  {{", f"{indent}    OFFSET {length:.9g} 0 0", f"{indent}  }}"]
        pending.append((None, level))
        pending += [(child, level + 1) for child in reversed(children)]
    return lines, written


def _triple(values: Float64s) -> str:
    return " ".join(f"{value:.9g}" for value in (values + 0.0).tolist())
