"""Which nodes of a scene are its skeleton, for formats that know bones."""

from __future__ import annotations

from maxik.scene.motion import BakedScene

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
