"""The certified leap against the literal march on many random problems, all kinds in turn; every bit compared.

    python fuzz/spline_leap.py --seed 0 --count 100000

Prints one line a kind and, last, `N passed, M failed`; exit code 1 when a bit differs, with kind and seed.
"""

from __future__ import annotations

import argparse
import sys

from maxik.kernel.choices import LEAP, LITERAL
from maxik.kernel.engine import KernelEngine
from maxik.kernel.settings import KernelSettings
from maxik.profile import PROFILES
from maxik.solutions import spline_bits
from maxik.verify.spline_problems import KINDS, make_problem


def main() -> int:
    """Compare and print; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=100_000)
    arguments = parser.parse_args()
    leap, literal = (KernelEngine(PROFILES["candidate-1"], KernelSettings(march)) for march in (LEAP, LITERAL))
    passed = failed = 0
    each = -(-arguments.count // len(KINDS))
    for kind in KINDS:
        few = many = 0
        for seed in range(arguments.seed, arguments.seed + each):
            problem = make_problem(kind, seed)
            a, b = leap.solve_spline(problem), literal.solve_spline(problem)
            few, many = few + a.samples, many + b.samples
            if spline_bits(a) == spline_bits(b):
                passed += 1
            else:
                failed += 1
                print(f"differs: kind {kind}, seed {seed}")
        print(f"{kind}: {each} problems, {few / each:.0f} samples a solve by leaps, {many / each:.0f} literally", flush=True)
    print(f"seed {arguments.seed}: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
