"""The core profile: which candidate each [CORE] item uses, and in which environment (core-profile.md).

`ITEMS` is the catalogue: every item-id with its candidate-ids, the default first. A `CoreProfile` is a choice among
them. The kernel implements the defaults only; the model implements every candidate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from maxik.errors import UsageError

_LENGTHS = (
    "binary64-divide",
    "length-divide",
    "length-reciprocal",
    "flength-divide",
    "flength-reciprocal",
    "binary64-reciprocal",
)

ITEMS: Mapping[str, tuple[str, ...]] = {
    "point3.normalize": _LENGTHS,
    "point3.unify": _LENGTHS,
    "point3.length_unify": _LENGTHS,
    "point3.zero_length": ("unit_x", "ieee", "keep", "zero"),
    "point3.cross": ("standard",),
    "matrix3.multiply": ("full", "skip-identity"),
    "matrix3.invert": ("adjugate-reciprocal", "adjugate-divide", "transpose", "binary64"),
    "matrix3.pre_rotate": ("rows", "multiply", "x87-fsincos"),
    "matrix3.rotate": ("columns", "multiply"),
    "matrix3.rot_angle_axis": ("rodrigues", "half-angle", "quaternion", "x87-fsincos"),
    "matrix3.vector_transform": ("sum",),
    "matrix3.point_transform": ("sum",),
    "matrix3.validate_flags": ("exact", "epsilon-1e-6"),
    "matrix3.to_euler": ("shoemake", "shoemake-binary64", "asin", "via-quat"),
    "quat.conjugate": ("standard",),
    "quat.product": ("hamilton", "hamilton-vector-first", "reversed"),
    "quat.from_ang_axis": ("binary64-half", "x87-fsincos"),
    "quat.make_matrix": ("products-first", "shoemake-scaled", "normalise-first", "transposed"),
    "rotation.pre_apply": ("matrix", "rows"),
    "ik.dof_matrix": ("pre-rotate",),
    "ik.link_matrix": ("multiply", "pre-rotate-in-place"),
    "ik.rigid_extension": ("scaled-translation", "translation"),
    "ik.zero_map": ("carried-normal", "double-cross"),
    "ik.initial_plane": ("preferred-pose", "start-joint-zero"),
    "ik.joint_iterator": ("chain-frames",),
    "spline.zero_map": ("carried-normal", "raw-carried-normal", "axis-cross-z", "constant-y", "world-up"),
    "spline.twist_parent": ("identity-or-up-node",),
    "spline.bezier": ("bernstein", "de-casteljau", "power"),
    "spline.parameter": ("simple", *(f"chord-table-{count}" for count in (100, 10, 20, 50, 200, 1000))),
    "spline.auto_handles": ("sixths",),
}
"""Item-id -> candidate-ids, the default (candidate-1) first."""

ENVIRONMENT_IDS = ("x87-53", "sse-32")
ENVIRONMENT = "environment"
"""The name under which a profile's environment is changed like an item."""
X87_ONLY = "x87-fsincos"
"""A candidate that is an instruction of the x87: 64-bit releases do not have it."""


def candidates_in(item: str, environment: str) -> tuple[str, ...]:
    """Return the candidate-ids of `item` that can be meant in `environment`, the default first."""
    return tuple(candidate for candidate in ITEMS[item] if candidate != X87_ONLY or environment == "x87-53")


@dataclass(frozen=True)
class CoreProfile:
    """A choice of candidates: `name`, `environment` (x87-53 or sse-32) and the items that differ from the default."""

    name: str = "candidate-1"
    environment: str = "x87-53"
    overrides: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, item: str) -> str:
        """Return the candidate-id that this profile uses for `item`."""
        return self.overrides.get(item, ITEMS[item][0])

    @property
    def is_shipped(self) -> bool:
        """Tell whether every item is at its default, so that the kernel can evaluate it."""
        return not self.overrides

    def with_candidate(self, item: str, candidate: str) -> CoreProfile:
        """Return this profile with one item changed; UsageError when the item or the candidate does not exist."""
        if item == ENVIRONMENT:
            if candidate not in ENVIRONMENT_IDS:
                raise UsageError(_unknown(ENVIRONMENT, candidate, ENVIRONMENT_IDS))
            return CoreProfile(self.name, candidate, self.overrides)
        if item not in ITEMS:
            raise UsageError(_unknown("item", item, ITEMS))
        if candidate not in ITEMS[item]:
            raise UsageError(_unknown(f"candidate of {item}", candidate, ITEMS[item]))
        overrides = {key: value for key, value in self.overrides.items() if key != item}
        if candidate != ITEMS[item][0]:
            overrides[item] = candidate
        return CoreProfile(self.name, self.environment, overrides)

    def __str__(self) -> str:
        """Return the profile as `--profile` takes it."""
        named = PROFILES.get(self.name)
        parts = [self.name]
        if named is None or named.environment != self.environment:
            parts.append(f"environment={self.environment}")
        return ",".join(parts + [f"{item}={candidate}" for item, candidate in sorted(self.overrides.items())])


PROFILES: Mapping[str, CoreProfile] = {
    "candidate-1": CoreProfile("candidate-1", "x87-53"),
    "max-2016-x64": CoreProfile("max-2016-x64", "sse-32"),
}
"""The named profiles of core-profile.md."""


def parse_profile(text: str) -> CoreProfile:
    """Return the profile that `text` names: a name, then any `,item=candidate` (or `,environment=sse-32`)."""
    name, *changes = text.split(",")
    if name not in PROFILES:
        raise UsageError(_unknown("profile", name, PROFILES))
    profile = PROFILES[name]
    for change in changes:
        item, equals, candidate = change.partition("=")
        if not equals:
            message = f"{change!r} in the profile is not of the form item=candidate"
            raise UsageError(message)
        profile = profile.with_candidate(item, candidate)
    return profile


def _unknown(what: str, got: str, known: object) -> str:
    names = ", ".join(str(name) for name in known)  # type: ignore[attr-defined]
    return f"unknown {what} {got!r}; known: {names}"
