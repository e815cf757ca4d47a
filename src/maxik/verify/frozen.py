"""Frozen hashes: a fixed corpus whose outputs are known, so that any compiler and any CPU can be checked without an oracle.

    maxik verify --frozen                      the engine in use against frozen.toml
    python -m maxik.verify.frozen --write      write the table anew, after a green gate

One hash for each kind of problem and each environment, over the raw bits of every solution (solutions.py). The table was
written from outputs on which native kernel, x87 build and model agree.
"""

from __future__ import annotations

import hashlib
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from maxik.kernel.choices import LITERAL
from maxik.kernel.engine import KernelEngine
from maxik.kernel.settings import KernelSettings
from maxik.problems import Engine
from maxik.profile import PROFILES
from maxik.solutions import limb_bits, spline_bits
from maxik.verify import limb_problems, spline_problems

LIMBS, SPLINES = 200, 12
"""Problems of each kind, seeds 0 and up."""
_PROFILES = ("candidate-1", "max-2016-x64")


@dataclass(frozen=True)
class FrozenResult:
    """One row of the table: environment, corpus, kind, and whether the hash is the frozen one."""

    environment: str
    corpus: str
    kind: str
    agrees: bool


def check_frozen(engine: Engine) -> tuple[FrozenResult, ...]:
    """Return every row for the environment of an engine; one whose hash is missing does not agree."""
    table = tomllib.loads(files("maxik.verify").joinpath("frozen.toml").read_text(encoding="utf-8"))
    environment = engine.profile.environment
    wanted: Mapping[str, Mapping[str, str]] = table.get(environment, {})
    found = frozen_hashes(engine)
    return tuple(
        FrozenResult(environment, corpus, kind, wanted.get(corpus, {}).get(kind) == value)
        for corpus, kinds in found.items()
        for kind, value in kinds.items()
    )


def frozen_hashes(engine: Engine) -> dict[str, dict[str, str]]:
    """Return corpus -> kind -> SHA-256 over the raw bits of its problems' solutions."""
    limbs, splines = limb_problems, spline_problems
    return {
        "limb": {
            kind: _hash(limb_bits(engine.solve_limb(limbs.make_problem(kind, seed))) for seed in range(LIMBS))
            for kind in sorted(limbs.KINDS)
        },
        "spline": {
            kind: _hash(spline_bits(engine.solve_spline(splines.make_problem(kind, seed))) for seed in range(SPLINES))
            for kind in sorted(splines.KINDS)
        },
    }


def _hash(outputs: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for output in outputs:
        digest.update(output)
    return digest.hexdigest()


def _table() -> str:
    lines = ["# SHA-256 over the raw bits of every solution, by environment, corpus and kind (frozen.py)."]
    for profile in _PROFILES:
        engine = KernelEngine(PROFILES[profile], KernelSettings(LITERAL, limb_path=LITERAL))
        for corpus, kinds in frozen_hashes(engine).items():
            lines += [
                "",
                f'["{engine.profile.environment}".{corpus}]',
                *(f'{kind} = "{value}"' for kind, value in kinds.items()),
            ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit("usage: python -m maxik.verify.frozen --write")
    Path(__file__).with_name("frozen.toml").write_text(_table(), encoding="utf-8")
