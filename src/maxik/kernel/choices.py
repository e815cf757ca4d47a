"""What can be chosen of how the kernel works: names alone, so that the command line offers them without what uses them."""

from __future__ import annotations

from collections.abc import Mapping

LEAP, LITERAL = MARCHES = ("leap", "literal")
"""How splines are marched: the certified leap or every literal step."""

AUTO = "auto"
"""The widest lanes that the machine has, else scalar."""
SCALAR = "scalar"
LIMB_PATHS: Mapping[str, int] = {LITERAL: 0, SCALAR: 1, "sse2": 2, "neon": 2, "avx2": 3, "avx512": 4}
"""How takes of limbs are solved -> the kernel's number of the path (kernel/limb_batch.h).

`literal` initialises for every frame anew, as the specification writes it; `scalar` once for a pose; the others solve as
many frames at once as their vectors hold.
"""
LANE_BITS: Mapping[str, int] = {"sse2": 128, "neon": 128, "avx2": 256, "avx512": 512}
