"""Bake: a scene, a range and a profile in; every node's motion and a certificate out.

    baked, certificate = bake_file("character.max", options)
    write_bake(baked, certificate, ["character.glb"])

The certificate says what the bits rest on (design 5): engine, profile with the ledger status of every item, chains
solved and not, degenerate frames by cause, what of the scene was not evaluated, and a hash of the raw float32 output.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from maxik.characterise.ledger import ledger
from maxik.engines import make_engine
from maxik.errors import SceneError, UsageError
from maxik.formats.load import load_scene
from maxik.formats.whole_file import write_whole
from maxik.formats.writers import WriteOptions, writer_for
from maxik.kernel.settings import DEFAULT_SETTINGS, KernelSettings
from maxik.problems import Engine, LimbProblem, SplineProblem
from maxik.profile import PROFILES, CoreProfile
from maxik.scene.dependencies import resting_on
from maxik.scene.evaluate import evaluate
from maxik.scene.ik import TOO_FAR, TOO_NEAR, chain_joints, enabled_frames
from maxik.scene.motion import BakedScene, ChainMotion
from maxik.scene.scene import LIMB, SPLINE, TICKS_PER_SECOND, Scene, held_nodes, named_tracks
from maxik.scene.solvable import method, sort_chains
from maxik.scene.tracks import Ticks

if TYPE_CHECKING:
    from maxik.spilling import Recorder

CERTIFICATE_FORMAT = "maxik-certificate/1"
MOST_FRAMES = 1_000_000
MOST_NODE_FRAMES = 20_000_000
"""Frames times nodes of one bake: some 3 GB when everything moves."""
SCALE_NOISE = 1e-5
"""Relative difference of a scale's components up to which it counts as uniform: real files carry rounding noise."""

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class BakeOptions:
    """How to bake: `frames` (first, last) in frames of `fps`, both included, None for the scene's own range.

    `fps` is the sampling rate, None for the scene's frame rate. `engine` is "kernel", "model" or None for the fastest.
    `kernel`: how the kernel works; the bits are the same. `spill`: also report in the
    certificate which frames a compiler's register spills could change; seconds a frame, more for splines.
    `skip_unsupported`: leave chains of a solver that maxik does not evaluate to their FK pose instead of refusing.
    """

    frames: tuple[float, float] | None = None
    fps: float | None = None
    profile: CoreProfile = PROFILES["candidate-1"]
    engine: str | None = None
    kernel: KernelSettings = DEFAULT_SETTINGS
    spill: bool = False
    skip_unsupported: bool = False


def bake_file(
    path: str | Path, options: BakeOptions | None = None, progress: Progress | None = None
) -> tuple[BakedScene, dict[str, Any]]:
    """Load a scene file and bake it; see `bake_scene`. The certificate also carries the file's SHA-256."""
    scene = load_scene(path)
    baked, certificate = bake_scene(scene, options, progress)
    certificate["scene"]["sha256"] = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return baked, certificate


def bake_scene(
    scene: Scene, options: BakeOptions | None = None, progress: Progress | None = None
) -> tuple[BakedScene, dict[str, Any]]:
    """Evaluate a scene over a range and certify it.

    `progress` is called with (steps done, steps in all). Raises UsageError for an impossible range or rate,
    SceneError for a scene that cannot be evaluated, or with a chain enabled in the range whose solver maxik does not
    evaluate (unless `skip_unsupported`), EngineError for an engine that cannot serve.
    """
    options = options or BakeOptions()
    ticks, frame_rate = sample_ticks(scene, options)
    engine, notices = make_engine(options.engine, options.profile, options.kernel)
    if not options.skip_unsupported:
        _refuse_unsupported(scene, ticks, engine)
    if not options.spill:
        baked = evaluate(scene, ticks, engine, frame_rate, progress)
        return baked, certify(baked, engine, notices)
    from maxik.spilling import Recorder  # noqa: PLC0415 - the model is loaded for this alone

    recorder = Recorder(engine)
    baked = evaluate(scene, ticks, recorder, frame_rate)
    return baked, {**certify(baked, engine, notices), "spill": _spill_entries(baked, recorder, options.profile, progress)}


def _refuse_unsupported(scene: Scene, ticks: Ticks, engine: Engine) -> None:
    """Raise SceneError for chains that 3ds Max would solve in the range and maxik cannot: their FK pose would be wrong.

    Chains that the reference's own solver refuses, and disabled ones, have their FK pose in 3ds Max too.
    """
    refused = []
    for entry in sort_chains(scene, ticks, engine)[1]:
        chain = scene.chains[entry.chain]
        if chain.solver not in (LIMB, SPLINE) and enabled_frames(chain, ticks).any():
            refused.append(f"the chain {chain.name!r} ({chain.solver}) is not evaluated: {entry.reason}")
    if refused:
        raise SceneError("; ".join(refused), file=scene.file, hint="leave it FK with --skip-unsupported")


def _spill_entries(
    baked: BakedScene, recorder: Recorder, profile: CoreProfile, progress: Progress | None
) -> list[dict[str, Any]]:
    """Return what spills could change, for every solved chain; a limb frame by frame, a spline problem by problem."""
    from maxik.spilling import spill_many, summary  # noqa: PLC0415 - the same

    entries = []
    splines = iter(recorder.splines)
    for motion in baked.chains:
        chain = baked.scene.chains[motion.chain]
        problems: list[LimbProblem | SplineProblem] = []
        if chain.spline is not None:
            problems += next(splines)
        else:
            (take,) = [take for take in recorder.limbs if np.shares_memory(take.goal, motion.goal_in_chain)]
            problems += [take.problem(frame) for frame in range(len(baked.ticks))]
        results = spill_many(profile, problems, processes=os.cpu_count() or 1, progress=progress)
        places = [place for place, result in enumerate(results) if not result.stable]
        sensitive = [
            {
                "tick" if chain.spline is None else "problem": int(baked.ticks[place]) if chain.spline is None else place,
                "sites": list(results[place].changing),
                "all_together": results[place].all_change,
            }
            for place in places
        ]
        entries.append({"chain": chain.name, **summary(results), "sensitive": sensitive})
    return entries


def sample_ticks(scene: Scene, options: BakeOptions) -> tuple[Ticks, float]:
    """Return the ticks to evaluate, (F,) int64, and their rate in frames a second; every frame on its nearest tick."""
    rate = scene.frame_rate if options.fps is None else options.fps
    if not 0 < rate <= TICKS_PER_SECOND:
        message = f"the frame rate {rate:g} is not between 0 and {TICKS_PER_SECOND}"
        raise UsageError(message, file=scene.file)
    ticks_per_frame = TICKS_PER_SECOND / rate
    if options.frames is None:
        first, last = scene.first_tick / ticks_per_frame, scene.last_tick / ticks_per_frame
    else:
        first, last = options.frames
    if not (np.isfinite(first) and np.isfinite(last)) or last < first:
        message = f"the range {first:g}:{last:g} has no frames"
        raise UsageError(message, file=scene.file)
    count = int(np.floor(last - first + 1e-9)) + 1
    if count > MOST_FRAMES or max(abs(first), abs(last)) * ticks_per_frame > 2**31:
        message = f"the range {first:g}:{last:g} is too long: at most {MOST_FRAMES} frames in 2^31 ticks"
        raise UsageError(message, file=scene.file)
    if count * len(scene.nodes) > MOST_NODE_FRAMES:
        message = f"{count} frames of {len(scene.nodes)} nodes are more than maxik bakes at once ({MOST_NODE_FRAMES} in all)"
        raise UsageError(message, file=scene.file, hint="bake it in parts, with --range")
    frames = first + np.arange(count, dtype=np.float64)
    return np.rint(frames * ticks_per_frame).astype(np.int64), rate


def certify(baked: BakedScene, engine: Engine, notices: Sequence[str] = ()) -> dict[str, Any]:
    """Return the certificate of a bake as JSON-able data, format "maxik-certificate/1" (docs/certificate.md)."""
    scene = baked.scene
    evaluated_outside = _outside_keys(baked)
    return {
        "format": CERTIFICATE_FORMAT,
        "engine": dict(engine.describe()),
        "notices": list(notices),
        "profile": {
            "name": str(engine.profile),
            "environment": engine.profile.environment,
            "items": {entry.item: {"candidate": entry.candidate, "status": entry.status} for entry in ledger(engine.profile)},
        },
        "scene": {"file": scene.file, **scene.source, "nodes": len(scene.nodes)},
        "range": {
            "first_tick": int(baked.ticks[0]),
            "last_tick": int(baked.ticks[-1]),
            "frames": len(baked.ticks),
            "frame_rate": baked.frame_rate,
            "ticks_per_second": TICKS_PER_SECOND,
        },
        "chains": [_chain_entry(baked, motion) for motion in baked.chains],
        "chains_not_solved": [
            {
                "name": scene.chains[entry.chain].name,
                "solver": scene.chains[entry.chain].solver,
                "start": scene.nodes[scene.chains[entry.chain].start].name,
                "end": scene.nodes[scene.chains[entry.chain].end].name,
                "reason": entry.reason,
            }
            for entry in baked.unsolved
        ],
        "not_evaluated": [
            {
                "kind": notice.kind,
                "node": None if notice.node is None else scene.nodes[notice.node].name,
                "class": notice.class_name,
                "where": notice.where,
                "what": notice.what,
            }
            for notice in scene.notices
        ],
        "resting_on_held": [scene.nodes[index].name for index in _resting_on_held(baked)],
        "not_finite": _not_finite(baked),
        "evaluated_outside_keys": evaluated_outside,
        "raw_output_sha256": raw_output_sha256(baked),
    }


def raw_output_sha256(baked: BakedScene) -> str:
    """Return the SHA-256 of the raw float32 output.

    Hashed, in node order: local_tm of every frame (12 float32, little-endian), then, for joints that a chain solves,
    the Euler XYZ of every frame (3 float32).
    """
    digest = hashlib.sha256()
    frames = len(baked.ticks)
    for motion in baked.nodes:
        digest.update(np.broadcast_to(motion.local_tm, (frames, 4, 3)).astype("<f4").tobytes())
        if motion.solved_by and motion.euler is not None:
            digest.update(np.broadcast_to(motion.euler, (frames, 3)).astype("<f4").tobytes())
    return digest.hexdigest()


def write_bake(
    baked: BakedScene, certificate: Mapping[str, Any], paths: Sequence[str | Path], options: WriteOptions | None = None
) -> None:
    """Write the bake to each path, in the format of its ending; UsageError for an ending that maxik does not write.

    Everything is rendered before anything is written, so that an error leaves no output at all.
    """
    writers = [(path, writer_for(path)) for path in paths]
    rendered = [(path, write(baked, certificate, options or WriteOptions())) for path, write in writers]
    for path, data in rendered:
        write_whole(path, data)


def _chain_entry(baked: BakedScene, motion: ChainMotion) -> dict[str, Any]:
    scene = baked.scene
    chain = scene.chains[motion.chain]
    unreachable = np.zeros(len(baked.ticks), np.bool_)
    for cause in (TOO_FAR, TOO_NEAR):
        unreachable |= motion.causes.get(cause, unreachable)
    in_reach = motion.solved & ~unreachable
    return {
        "name": chain.name,
        "solver": chain.solver,
        "start": scene.nodes[chain.start].name,
        "end": scene.nodes[chain.end].name,
        "goal": scene.nodes[chain.goal].name,
        "shape": None if chain.spline is None else scene.nodes[chain.spline.shape].name,
        "joints": [scene.nodes[joint].name for joint in motion.joints],
        "method": method(chain, len(motion.joints)),
        "frames_solved": int(motion.solved.sum()),
        "frames_left_fk": int((~motion.solved).sum()),
        "degenerate": {
            cause: {"frames": int(mask.sum()), "first_tick": int(baked.ticks[np.argmax(mask)])}
            for cause, mask in motion.causes.items()
            if mask.any()
        },
        "worst_goal_miss_in_reach": None if chain.spline or not in_reach.any() else float(motion.goal_miss[in_reach].max()),
        "non_uniform_scale": _has_non_uniform_scale(baked, motion),
    }


def _has_non_uniform_scale(baked: BakedScene, motion: ChainMotion) -> bool:
    """Tell whether a joint of the chain is scaled non-uniformly (beyond noise): ik.rigid_extension is not settled for that."""
    scales = [baked.nodes[joint].scale.astype(np.float64) for joint in motion.joints]
    return any(bool((np.ptp(scale, axis=1) > SCALE_NOISE * np.abs(scale).max(axis=1)).any()) for scale in scales)


def _resting_on_held(baked: BakedScene) -> list[int]:
    """Return the nodes whose world TM depends on a node that is held, or on a joint of a chain that is not solved."""
    scene = baked.scene
    held = held_nodes(scene)
    held |= {joint for entry in baked.unsolved for joint in chain_joints(scene, scene.chains[entry.chain])[:-1]}
    return resting_on(scene, held)


def _not_finite(baked: BakedScene) -> list[dict[str, Any]]:
    """Name the nodes whose world TM is not finite somewhere, with the first such tick: damaged values, or a scale of 0."""
    entries = []
    for node, motion in zip(baked.scene.nodes, baked.nodes, strict=True):
        bad = np.logical_not(np.isfinite(motion.world_tm).reshape(-1, 12).all(axis=1))
        if bad.any():
            frames = int(bad.sum()) if len(bad) > 1 else len(baked.ticks)
            entries.append({"node": node.name, "frames": frames, "first_tick": int(baked.ticks[int(np.argmax(bad))])})
    return entries


def _outside_keys(baked: BakedScene) -> list[dict[str, Any]]:
    """Name the tracks that were evaluated outside their keys: how 3ds Max goes on there is stored nowhere known."""
    first, last = int(baked.ticks[0]), int(baked.ticks[-1])
    entries = []
    for owner, where, track in named_tracks(baked.scene):
        keys = track.key_range
        if keys is not None and (first < keys[0] or last > keys[1]):
            entries.append(
                {"node": baked.scene.nodes[owner].name, "where": where, "keys": list(keys), "held": "at the end value"}
            )
    return entries
