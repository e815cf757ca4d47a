"""What 3ds Max's FBX exporter writes for a node matrix: Euler XYZ in degrees (vectors/max-export/LIMB.md, `export_deg`).

MatrixToEuler's decomposition, its arc tangents kept in binary64 (a float angle gives 10 of the 12 exported numbers
that are at hand, whatever the conversion; unrounded ones give all 12), in degrees, rounded once to float32.
"""

from __future__ import annotations

import math

from maxik.model.core import core_of
from maxik.model.euler import unrounded_euler
from maxik.model.matrix3 import from_values
from maxik.numerics.float32 import f32, to_hex
from maxik.problems import Float32s
from maxik.profile import CoreProfile


def exported_degrees(profile: CoreProfile, node_tm: Float32s) -> tuple[str, ...]:
    """Return Euler XYZ in degrees of a node matrix (4, 3), as bit patterns; matrix3.to_euler as `profile` has it."""
    core = core_of(profile)
    angles = unrounded_euler(core, from_values(core, node_tm.reshape(12).tolist()))
    return tuple(to_hex(f32(math.degrees(angle))) for angle in angles)
