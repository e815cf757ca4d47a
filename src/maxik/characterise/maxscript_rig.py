"""Limbs built inside 3ds Max by a script: for items that show as a turn in the pose that IK Limb solves.

A node's transform holds the solver's angles after more arithmetic, so the poses are compared as turns within a
tolerance, not as bits. Items whose candidates differ by less are refused.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from maxik.characterise.maxscript_text import degrees, point
from maxik.errors import UsageError
from maxik.numerics.float32 import from_hex
from maxik.verify.rotations import euler_xyz_matrix, turn_between

TOLERANCE = 2e-3
"""Radians: three times the noise of acos at swivel 0 (core-profile.md, known behaviour)."""
_CLEAR = 10.0
"""Tolerances by which candidates have to lie apart."""

ASSUMED = (
    'IKSys.ikChain <start> <end> "IKLimb" makes the goal\'s node and takes the pose as it stands for the preferred angles; '
    "Euler_XYZ's x_rotation and so on are degrees; the value of a position controller is in the parent's space; a middle joint "
    "free about three axes is accepted (if not, leave only Rotational Joints z of maxik_elbow active)"
)

FUNCTIONS = """\
fn maxik_decimal x = (
    local unit = 16777216
    local n = ((floor ((abs x) * 16777216.0 + 0.5)) as integer)
    local answer = ((n / unit) as string) + "."
    for i = 1 to 9 do (
        n = 10 * (n - (n / unit) * unit)
        answer += ((n / unit) as string)
    )
    if x < 0.0 then ("-" + answer) else answer
)
fn maxik_turnRow v = ((maxik_decimal v.x) + ", " + (maxik_decimal v.y) + ", " + (maxik_decimal v.z))
fn maxik_turn m = ("[" + (maxik_turnRow m.row1) + ", " + (maxik_turnRow m.row2) + ", " + (maxik_turnRow m.row3) + "]")
fn maxik_joint title above place x y z = (
    local j = Point()
    j.name = title
    j.parent = above
    j.pos.controller = Bezier_Position()
    j.pos.controller.value = place
    j.rotation.controller = Euler_XYZ()
    j.rotation.controller.x_rotation = x
    j.rotation.controller.y_rotation = y
    j.rotation.controller.z_rotation = z
    j
)
"""
"""maxik_decimal writes nine decimals by integers, exactly, of x rounded to 2^-24."""


def check_apart(item: str, outputs: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise UsageError unless all candidates' poses lie apart by far more than the tolerance."""
    poses = [
        [euler_xyz_matrix([from_hex(word) for word in words]) for words in (output["rot_xyz"], output["dof_zyx"][::-1])]
        for output in outputs.values()
    ]
    for one, other in itertools.combinations(poses, 2):
        turn = float(np.max([turn_between(a, b) for a, b in zip(one, other, strict=True)]))
        if not turn > _CLEAR * TOLERANCE:
            message = f"the candidates of {item} differ by {turn:.2g} rad, too little for the pose of a rig"
            raise UsageError(message)


def limb_lines(o: Mapping[str, Any]) -> list[str]:
    """Return the lines that build a limb, solve it and leave `upper` and `lower`, each joint's turn in its parent."""
    z, y, x = o["links"]["init_zyx"]
    root, bend = (" ".join(map(degrees, angles)) for angles in (o["root"]["init_xyz"], (x, y, z)))
    return [
        "local upper = undefined",
        "local lower = undefined",
        f'local shoulder = maxik_joint "maxik_shoulder" undefined (point3 0.0 0.0 0.0) {root}',
        f'local elbow = maxik_joint "maxik_elbow" shoulder {point(o["root"]["rigid_extend"])} {bend}',
        f'local wrist = maxik_joint "maxik_wrist" elbow {point(o["links"]["rigid_extend"])} (0.0) (0.0) (0.0)',
        'local goal = IKSys.ikChain shoulder wrist "IKLimb"',
        f"goal.pos = {point(o['goal'][9:])}",
        "goal.transform.controller.swivelAngle = 0.0",
        "upper = shoulder.transform",
        "lower = elbow.transform * (inverse shoulder.transform)",
        "delete #(goal, wrist, elbow, shoulder)",
    ]
