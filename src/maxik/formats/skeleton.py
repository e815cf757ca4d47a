"""Which nodes of a scene are its skeleton, and where its joints are as rigid frames, for formats that know bones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from maxik.errors import SceneError
from maxik.scene.motion import BakedScene
from maxik.scene.turns import Float64s

_BONE_CLASSES = ("Bone",)


def skeleton_joints(baked: BakedScene) -> list[int]:
    """Return the nodes of the skeleton, ascending: joints, bones, and whatever lies between two of them."""
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


def parent_joints(baked: BakedScene, joints: Sequence[int]) -> dict[int, int | None]:
    """Return the nearest node above each of `joints` that is one of them, None where there is none."""
    listed = set(joints)
    found: dict[int, int | None] = {}
    for index in joints:
        above = baked.scene.nodes[index].parent
        while above is not None and above not in listed:
            above = baked.scene.nodes[above].parent
        found[index] = above
    return found


def rigid_world(baked: BakedScene, index: int) -> tuple[Float64s, Float64s]:
    """Return a node's world positions (F, 3) and world frames made orthonormal (F, 3, 3), row matrices, binary64.

    The frame is the rotation nearest to the axes of the world TM; mirrored axes are reversed first. Raises SceneError, with
    node and tick, where the world TM is not finite.
    """
    frames = len(baked.ticks)
    world = np.broadcast_to(baked.nodes[index].world_tm, (frames, 4, 3)).astype(np.float64)
    finite = np.isfinite(world).reshape(frames, -1).all(axis=1)
    if not finite.all():
        message = "the world TM is not finite, which this format cannot hold"
        tick = int(baked.ticks[int(np.argmin(finite))])
        raise SceneError(message, file=baked.scene.file, node=baked.scene.nodes[index].name, tick=tick)
    u, _, v = np.linalg.svd(world[:, :3])
    frame = u @ v
    frame *= np.sign(np.linalg.det(frame))[:, None, None]
    return world[:, 3], frame
