"""IKControl to joints, IKChainControl and SplineIKChain to chains (max-format.md 7, max-format-spline-ik.md S.2)."""

from __future__ import annotations

from maxik.formats.max import classes as c
from maxik.formats.max.controllers import Controllers
from maxik.formats.max.params import Params
from maxik.scene.scene import SPLINE, Chain, Joint, Notice, SplineGoal
from maxik.scene.tracks import ComponentsTrack, ConstantTrack

_INITIAL_POSITION = (36, 37, 38)
_PREFERRED = (39, 40, 41)
_ACTIVE = {"x": 15, "y": 20, "z": 25}
_LIMITED = {"x": 33, "y": 34, "z": 35}
_SOLVER, _SWIVEL, _USE_VH_TARGET, _VH_TARGET, _SWIVEL_PARENT = 2, 4, 17, 18, 19
_SHAPE, _START_TWIST, _END_TWIST, _UP_NODE, _USE_UP_NODE = 20, 27, 28, 41, 42
_SLOT_BLOCK, _SLOT_END, _SLOT_ENABLED, _SLOT_START = 0, 2, 3, 4


def read_joint(controllers: Controllers, control: int) -> Joint | None:
    """Return the joint of an IKControl; None, with a notice, when its parameters are missing."""
    objects = controllers.objects
    block = objects.references(control).get(_SLOT_BLOCK)
    if block is None:
        controllers.notices.append(
            Notice("unsupported", "the IK parameters are missing", controllers.node, "IKControl", "joint")
        )
        return None
    params = controllers.params(block)
    angles = tuple(
        controllers.parameter(params, ident, f"preferred angle {axis}") for ident, axis in zip(_PREFERRED, "xyz", strict=True)
    )
    x, y, z = (params.number(ident) for ident in _INITIAL_POSITION)
    inactive = "".join(axis for axis, ident in _ACTIVE.items() if not params.integer(ident, 1))
    limited = "".join(axis for axis, ident in _LIMITED.items() if params.integer(ident))
    if inactive:
        what = f"rotation axes switched off: {inactive}; IK Limb and Spline IK turn them all"
        controllers.note("ignored", what, "IKControl", "joint")
    if limited:
        what = f"rotation limits on: {limited}; IK Limb and Spline IK do not keep to them"
        controllers.note("ignored", what, "IKControl", "joint")
    return Joint(ComponentsTrack(angles), (x, y, z), inactive, limited)


def read_chain(controllers: Controllers, control: int, *, goal: int, name: str) -> Chain | None:
    """Return the chain of a goal node's controller; None, with a notice, when a joint or the parameters are missing.

    `goal`: the goal node's index in Scene.nodes.
    """
    objects = controllers.objects
    references = objects.references(control)
    block = references.get(_SLOT_BLOCK)
    start, end = (controllers.scene_node(references.get(slot)) for slot in (_SLOT_START, _SLOT_END))
    class_name = objects.class_of(control).name
    if block is None or start is None or end is None:
        missing = "parameters" if block is None else "start joint" if start is None else "end joint"
        controllers.notices.append(
            Notice("unsupported", f"the IK chain has no {missing}: not solved", goal, class_name, "chain")
        )
        return None
    params = controllers.params(block)
    spline = objects.class_of(control).id == c.SPLINE_IK_CHAIN
    goal_of_spline = _spline_goal(controllers, params) if spline else None
    target = None
    if not spline and params.integer(_USE_VH_TARGET):
        target = controllers.scene_node(params.target(_VH_TARGET))
    enabled = references.get(_SLOT_ENABLED)
    return Chain(
        name=name,
        solver=SPLINE if spline else params.string(_SOLVER),
        start=start,
        end=end,
        goal=goal,
        swivel=ConstantTrack((0.0,)) if spline else controllers.parameter(params, _SWIVEL, "swivel angle"),
        swivel_parent="start-joint" if params.integer(_SWIVEL_PARENT, 1) else "goal",
        vh_target=target,
        enabled=ConstantTrack((1.0,)) if enabled is None else controllers.number(enabled, "enabled", 1.0),
        spline=goal_of_spline,
    )


def _spline_goal(controllers: Controllers, params: Params) -> SplineGoal | None:
    """Return what a Spline IK chain follows; None when no shape is picked."""
    shape = controllers.scene_node(params.target(_SHAPE))
    if shape is None:
        return None
    return SplineGoal(
        shape=shape,
        start_twist=controllers.parameter(params, _START_TWIST, "start twist"),
        end_twist=controllers.parameter(params, _END_TWIST, "end twist"),
        up_node=controllers.scene_node(params.target(_UP_NODE)) if params.integer(_USE_UP_NODE) else None,
    )
