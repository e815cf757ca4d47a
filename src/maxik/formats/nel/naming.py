"""Which nodes an `.anim` names, how and in which order; times in seconds (nel-facts.md 1.2, 1.6).

The exporter writes the nodes that the artist marked, `Bip01` first; the root of what it writes has no name of its own, and
a mark may put a prefix before the names. The marks are not read here: the main root is `Bip01`, else the root with most
bones below it; every other root is written with its name as prefix.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxik.errors import SceneError
from maxik.formats.nel.stream import string_bytes
from maxik.scene.scene import TICKS_PER_SECOND, Scene

_FIRST = "Bip01"
_BONE_CLASSES = ("Bone",)


def track_prefixes(scene: Scene) -> list[tuple[int, str]]:
    """Return the nodes in file order, depth first, main root first, each with what its tracks' names begin with.

    SceneError, with the node, for a name that cannot be written.
    """
    children: list[list[int]] = [[] for _ in scene.nodes]
    roots: list[int] = []
    for index, node in enumerate(scene.nodes):
        (roots if node.parent is None else children[node.parent]).append(index)
    ordered = {root: _below(root, children) for root in roots}
    main = max(roots, key=lambda root: (scene.nodes[root].name == _FIRST, _bones(scene, ordered[root])), default=None)
    found = []
    for root in sorted(roots, key=lambda root: root != main):
        prefix = "" if root == main else f"{scene.nodes[root].name}."
        for index in ordered[root]:
            name = scene.nodes[index].name
            _check(scene, name)
            found.append((index, prefix if index == root else f"{prefix}{name}."))
    return found


def seconds(ticks: NDArray[np.integer]) -> NDArray[np.float32]:
    """Return ticks (K,) in seconds, float32 divided by float32 as convertTime does (1.2)."""
    return np.asarray(ticks.astype(np.float32) / np.float32(TICKS_PER_SECOND), np.float32)


def first_of_equal(times: NDArray[np.float32]) -> NDArray[np.intp]:
    """Return the places of rising times that differ from the one before: of keys at one time the first counts (2.3)."""
    return np.flatnonzero(np.concatenate([[True], times[1:] != times[:-1]]))


def _below(root: int, children: list[list[int]]) -> list[int]:
    found, waiting = [], [root]
    while waiting:
        index = waiting.pop()
        found.append(index)
        waiting.extend(reversed(children[index]))
    return found


def _bones(scene: Scene, indices: list[int]) -> int:
    nodes = [scene.nodes[index] for index in indices]
    return sum(node.joint is not None or node.object_class in _BONE_CLASSES for node in nodes)


def _check(scene: Scene, name: str) -> None:
    try:
        string_bytes(name)
    except SceneError as error:
        raise SceneError(error.what, file=scene.file, node=name.encode("ascii", "backslashreplace").decode()) from None
