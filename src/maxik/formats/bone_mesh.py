"""A small mesh that shows bones: one octahedron from each joint to its child joint, in the scene's world space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from maxik.scene.motion import BakedScene

Float64s = NDArray[np.float64]
_WAIST, _THICKNESS = 0.2, 0.1
"""Where along the bone its octahedron is widest, and half its width there, as fractions of the length."""
_LEAF = 0.3
"""Length of a joint without child joints, as a fraction of its parent bone."""
_FACES = ((0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 1), (5, 2, 1), (5, 3, 2), (5, 4, 3), (5, 1, 4))


@dataclass(frozen=True)
class BoneMesh:
    """Flat-shaded triangles at the first frame: `positions`, `normals` (V, 3) in world space, scene units.

    `joints` (V,): which joint of the list each corner belongs to.
    """

    positions: Float64s
    normals: Float64s
    joints: NDArray[np.int64]


def bone_mesh(baked: BakedScene, joints: list[int]) -> BoneMesh:
    """Return the mesh of the joints (node indices) at the first frame, scene units."""
    nodes = baked.scene.nodes
    place = {index: row for row, index in enumerate(joints)}
    origin = {index: baked.nodes[index].world_tm[0, 3].astype(np.float64) for index in joints}
    children: dict[int, list[int]] = {index: [] for index in joints}
    for index in joints:
        parent = nodes[index].parent
        if parent in children:
            children[parent].append(index)
    spans = [(index, origin[child] - origin[index]) for index in joints for child in children[index]]
    lengths = [float(np.linalg.norm(span)) for _, span in spans if np.linalg.norm(span) > 0.0]
    typical = float(np.median(lengths)) if lengths else 1.0
    spans += [(index, _leaf_span(baked, index, origin, typical)) for index in joints if not children[index]]
    triangles, owners = [], []
    for index, span in spans:
        if np.linalg.norm(span) > 0.0:
            corners = _octahedron(origin[index], span)
            triangles += [corners[list(face)] for face in _FACES]
            owners += [place[index]] * (3 * len(_FACES))
    faces = np.array(triangles)
    normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return BoneMesh(faces.reshape(-1, 3), np.repeat(normals, 3, axis=0), np.array(owners, np.int64))


def _leaf_span(baked: BakedScene, index: int, origin: dict[int, Float64s], typical: float) -> Float64s:
    """Return the vector along a leaf's own x axis, the direction of 3ds Max's bones."""
    parent = baked.scene.nodes[index].parent
    length = float(np.linalg.norm(origin[index] - origin[parent])) if parent in origin else 0.0
    axis = baked.nodes[index].world_tm[0, 0].astype(np.float64)
    norm = float(np.linalg.norm(axis))
    direction = axis / norm if norm > 0.0 else np.array([1.0, 0.0, 0.0])
    return direction * _LEAF * (length or typical)


def _octahedron(start: Float64s, span: Float64s) -> Float64s:
    """Return 6 corners: the start, four round the waist, the end."""
    length = float(np.linalg.norm(span))
    axis = span / length
    side = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    side /= np.linalg.norm(side)
    other = np.cross(axis, side)
    waist, width = start + span * _WAIST, length * _THICKNESS
    ring = [waist + width * (a * side + b * other) for a, b in ((1, 0), (0, 1), (-1, 0), (0, -1))]
    return np.array([start, *ring, start + span])
