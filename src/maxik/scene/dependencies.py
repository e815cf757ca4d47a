"""What depends on what: the order in which nodes and chains are evaluated, and what rests on something held."""

from __future__ import annotations

from collections.abc import Iterable
from graphlib import CycleError, TopologicalSorter

from maxik.errors import SceneError
from maxik.scene.scene import Scene
from maxik.scene.transform import Position, nodes_of

Step = tuple[str, int]
NODE, CHAIN = "node", "chain"


def order(scene: Scene, solved: list[int], joints: list[tuple[int, ...]]) -> list[Step]:
    """Return nodes and chains so that everything stands after what it depends on."""
    graph: dict[Step, set[Step]] = {}
    for index in range(len(scene.nodes)):
        graph[NODE, index] = {(NODE, needed) for needed in needed_by_node(scene, index)}
    for index in solved:
        chain = scene.chains[index]
        start = scene.nodes[chain.start]
        nodes = [start.parent, *_nodes_behind(scene, start.transform.position)]
        if chain.spline is None:
            nodes += [chain.goal, chain.vh_target]
        else:
            nodes += [*_curve_nodes(scene, chain.spline.shape), chain.spline.up_node]
        graph[CHAIN, index] = {(NODE, needed) for needed in nodes if needed is not None}
        for joint in joints[index][:-1]:
            graph[NODE, joint].add((CHAIN, index))
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        names = [
            f"chain {scene.chains[index].name!r}" if kind == CHAIN else f"node {scene.nodes[index].name!r}"
            for kind, index in error.args[1]
        ]
        message = f"cyclic dependency, each needs the next: {' -> '.join(reversed(names))}"
        raise SceneError(message, file=scene.file) from error


def needed_by_node(scene: Scene, index: int) -> set[int]:
    """Return the nodes that have to be placed before this one."""
    node = scene.nodes[index]
    needed = {*_nodes_behind(scene, node.transform.position), *nodes_of(node.transform.rotation)}
    if node.parent is not None:
        needed.add(node.parent)
    if node.links is not None:
        needed.update(target for target in node.links.targets if target is not None)
    return needed


def _nodes_behind(scene: Scene, position: Position) -> list[int]:
    """Return the nodes that a position depends on; with a path come the helpers that carry its knots."""
    return [needed for node in nodes_of(position) for needed in _curve_nodes(scene, node)]


def _curve_nodes(scene: Scene, index: int) -> list[int]:
    """Return a node and, where it bears a shape, the helpers that carry its knots."""
    shape = scene.nodes[index].shape
    return [index, *(shape.helpers if shape else ())]


def resting_on(scene: Scene, held: Iterable[int]) -> list[int]:
    """Return the nodes, in file order, whose world TM depends on one of `held`, those left out themselves."""
    followers: dict[int, list[int]] = {}
    for index in range(len(scene.nodes)):
        for needed in needed_by_node(scene, index):
            followers.setdefault(needed, []).append(index)
    for chain in scene.chains:
        joints = list(_above(scene, chain.end, chain.start))
        for needed in (chain.goal, chain.vh_target, *(_curve_nodes(scene, chain.spline.shape) if chain.spline else ())):
            if needed is not None:
                followers.setdefault(needed, []).extend(joints)
    first = set(held)
    waiting, reached = list(first), set(first)
    while waiting:
        for follower in followers.get(waiting.pop(), ()):
            if follower not in reached:
                reached.add(follower)
                waiting.append(follower)
    return sorted(reached - first)


def _above(scene: Scene, end: int, start: int) -> Iterable[int]:
    """Yield the joints that a chain turns: from the parent of its end joint up to its start joint."""
    at = scene.nodes[end].parent
    while at is not None:
        yield at
        if at == start:
            return
        at = scene.nodes[at].parent
