"""Markers of known 3ds Max script infections (max-format.md 9.1). They are looked for, nothing is ever run.

The "ALC" script virus leaves a Scale Script controller and helper nodes of two names; the names alone are proof, the
controller is a reason to look.
"""

from __future__ import annotations

from collections.abc import Sequence

from maxik.formats.max import classes as c
from maxik.formats.max.objects import Objects
from maxik.scene.scene import Node, Notice

_ADVICE = "do not open the file in 3ds Max before it is cleaned"
_ALC_NAMES = ("\u00a1\u00a1\u00d7\u00fd\u00d7\u00fb", "\u00d7\u00fe\u00d7\u00fc")


def infection_notices(objects: Objects, nodes: Sequence[Node]) -> list[Notice]:
    """Return a notice of kind "security" for every marker in the file."""
    found = [
        Notice("security", f"the node's name is a marker of the ALC script virus: {_ADVICE}", index, node.object_class, "name")
        for index, node in enumerate(nodes)
        if node.name in _ALC_NAMES
    ]
    count = sum(len(places) for ident, places in objects.by_class.items() if (ident.a, ident.b) == c.SCALE_SCRIPT)
    if count:
        what = (
            f"{count} Scale Script controllers, which the ALC script virus uses too: look at them before 3ds Max opens the file"
        )
        found.append(Notice("security", what, None, "Scale Script", "controller"))
    return found
