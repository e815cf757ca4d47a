"""NeL's files: real skeletons byte for byte, animations written and read back, packing, what a file leaves out."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from maxik.bake import BakeOptions, bake_scene
from maxik.cli import main
from maxik.errors import FileFormatError, SceneError, UsageError
from maxik.formats.max import read_max
from maxik.formats.nel.anim import Animation, anim_bytes, animation, parse_anim, read_anim
from maxik.formats.nel.built import build, sample_times
from maxik.formats.nel.packing import make_closest, normalise, pack
from maxik.formats.nel.sampled import rotations
from maxik.formats.nel.sampled import scales as scales_of
from maxik.formats.nel.skel import parse_skel, read_skel, skel_bytes
from maxik.formats.nel.stream import Pointer
from maxik.formats.nel.tracks import KEY_FIELDS, DefaultTrack, KeyFramer, SampledTrack, TimeBlock, Track, key_records
from maxik.formats.nel.write_anim import left_out, left_out_line, render_anim
from maxik.formats.scene_json import read_scene_json, write_scene_json
from maxik.formats.writers import WriteOptions
from maxik.scene.motion import BakedScene
from maxik.scene.scene import Scene
from maxik.scene.tracks import BezierTrack, LinearTrack, SlerpTrack, TcbRotationTrack
from maxik.scene.transform import QuatRotation
from rigs import limb_scene, node


def skeleton_files(shared: Path) -> list[Path]:
    files = sorted((shared / "nel").glob("*.skel"))
    assert len(files) == 20
    return files


def refuse_damage(data: bytes, parse: Callable[[bytes, str], Any], write: Callable[[Any], bytes], places: list[int]) -> None:
    """Check that a file cut off or changed at each place gives FileFormatError (cut off: always), or reads and writes whole."""
    for place in places:
        with pytest.raises(FileFormatError) as caught:
            parse(data[:place], "cut")
        assert caught.value.file == "cut"
        assert caught.value.offset is not None
        for flip in (0x01, 0x80, 0xFF):
            damaged = bytearray(data)
            damaged[place] ^= flip
            with suppress(FileFormatError):
                assert write(parse(bytes(damaged), "flipped")) == damaged


@pytest.mark.shared
def test_real_skeletons_are_written_byte_for_byte(shared: Path) -> None:
    told = {entry["file"]: entry for entry in map(json.loads, (shared / "nel" / "index.jsonl").read_text().splitlines())}
    for path in skeleton_files(shared):
        skeleton = read_skel(path)
        assert skel_bytes(skeleton) == path.read_bytes()
        entry = told[path.name]
        assert skeleton.version == entry["class_version"]
        assert {bone.version for bone in skeleton.bones} == {entry["bone_version"]}
        assert len(skeleton.bones) == entry["bones"]


@pytest.mark.shared
def test_a_skeletons_pose_and_bind_agree(shared: Path) -> None:
    """The bind frames of a bone and its father give the bone's rest rotation (nel-facts.md 1.4, which names exceptions)."""
    close = 0
    bones = 0
    for path in skeleton_files(shared):
        skeleton = read_skel(path)
        for bone in skeleton.bones:
            if bone.father < 0:
                continue
            axes, father = bone.inverse_bind.axes, skeleton.bones[bone.father].inverse_bind.axes
            assert axes is not None
            assert father is not None
            local = father.astype(np.float64) @ np.linalg.inv(axes)
            left, _, right = np.linalg.svd(local * np.sign(np.linalg.det(local)))
            bones += 1
            close += np.abs(left @ right - turned(bone.rotation[None])[0]).max() < 1e-3
    assert close > 0.85 * bones


@pytest.mark.shared
def test_a_damaged_skeleton_is_refused(shared: Path) -> None:
    data = (shared / "nel" / "fy_acc_plantegrelot.skel").read_bytes()
    refuse_damage(data, parse_skel, skel_bytes, list(range(0, len(data), 13)))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"nothing\.skel"):
        read_skel(tmp_path / "nothing.skel")


# animations as files


def floats32(rng: np.random.Generator, *shape: int) -> NDArray[Any]:
    """Return float32 of any bit pattern, signalling NaN included."""
    return rng.integers(0, 2**32, shape, dtype=np.uint32).view(np.float32)


def random_track(class_name: str, rng: np.random.Generator) -> Track:
    """Return a track with values of any bits."""
    count = int(rng.integers(0, 5))
    if class_name in KEY_FIELDS:
        records = key_records(class_name, np.zeros(count, np.float32))
        records = np.frombuffer(rng.bytes(records.nbytes), records.dtype).copy()
        records["version"] = 0
        if class_name == "ConstBool" or (class_name.startswith("Bezier") and class_name != "BezierQuat"):
            records["value" if class_name == "ConstBool" else "step"] &= 1
        flags = rng.integers(0, 2, 2).astype(bool).tolist()
        return KeyFramer(class_name, records, floats32(rng, 1), floats32(rng, 1), *flags)
    if class_name == "ConstString":
        times = np.zeros(2, [("time", "<f4"), ("version", "u1")])
        return KeyFramer(class_name, times, floats32(rng, 1), floats32(rng, 1), strings=("wink", ""))
    if class_name.startswith("Sampled"):
        quat = class_name == "SampledQuat"
        keys = rng.integers(-(2**15), 2**15, (count, 4)).astype("<i2") if quat else floats32(rng, count, 3)
        blocks = (TimeBlock(3, 70000, b"\x00\x07\xff"), TimeBlock(65535, 2, b""))
        version = int(rng.integers(0, 2)) if quat else 0
        return SampledTrack(class_name.removeprefix("Sampled"), version, True, floats32(rng, 6), blocks, keys)  # noqa: FBT003
    kind = class_name.removeprefix("Default")
    values: dict[str, Any] = {
        "String": "smile \u00e9",
        "Bool": True,
        "Int": np.array([-5], "<i4"),
        "RGBA": np.array([1, 2, 3, 255], "u1"),
        "Float": floats32(rng, 1),
        "Vector": floats32(rng, 3),
        "Quat": floats32(rng, 4),
    }
    return DefaultTrack(kind, values[kind])


DEFAULTS = ("Float", "Vector", "Quat", "Int", "RGBA", "String", "Bool")
CLASSES = (*KEY_FIELDS, "ConstString", "SampledQuat", "SampledVector", *(f"Default{kind}" for kind in DEFAULTS))


@given(
    st.lists(st.tuples(st.text(max_size=6), st.sampled_from(CLASSES)), max_size=6, unique_by=lambda entry: entry[0]),
    st.integers(0, 2),
    st.integers(0, 2**32 - 1),
)
@settings(deadline=None)
def test_animations_of_any_tracks_come_back(named: list[tuple[str, str]], version: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    tracks = {name: random_track(class_name, rng) for name, class_name in named}
    written = animation(tracks)
    ids = rng.permutation(len(tracks)) + (1 << 40)  # raw pointers of an old exporter
    written = replace(
        written,
        tracks=tuple(Pointer(int(ident), pointer.target) for ident, pointer in zip(ids, written.tracks, strict=True)),
        version=version,
        minimum_end=floats32(rng, 1) if version else None,
        shapes=("a", "b") if version == 2 else (),
        name="walk",
    )
    data = anim_bytes(written)
    found = parse_anim(data)
    assert anim_bytes(found) == data
    assert (found.version, found.name, found.names, found.shapes) == (version, "walk", written.names, written.shapes)
    for name, track in tracks.items():
        assert found.named()[name].class_name == track.class_name
        theirs = found.named()[name]
        for field in fields(track):
            mine, other = getattr(track, field.name), getattr(theirs, field.name)
            if isinstance(mine, np.ndarray):
                assert (mine.tobytes(), mine.shape) == (other.tobytes(), other.shape)
            elif field.name != "blocks":
                assert mine == other


def test_pointers_are_kept_as_they_are() -> None:
    track = DefaultTrack("Bool", True)  # noqa: FBT003 - the value
    pointers: tuple[Pointer[Track], ...] = (Pointer(9, track), Pointer(0, None), Pointer(9, track))
    data = anim_bytes(Animation(pointers, (("a", 2), ("b", 0), ("null", 1)), version=0))
    assert data.count(b"CTrackDefaultBool") == 1
    found = parse_anim(data)
    assert [pointer.id for pointer in found.tracks] == [9, 0, 9]
    assert found.tracks[0].target is found.tracks[2].target
    assert set(found.named()) == {"a", "b"}
    assert anim_bytes(found) == data


def test_an_animation_byte_by_byte() -> None:
    """One key of a linear rotation, laid out by hand after nel-facts.md 2.1 to 2.3."""
    key = key_records("LinearQuat", np.array([0.5], np.float32), value=np.array([[0.0, 0.0, 0.0, 1.0]], np.float32))
    data = anim_bytes(animation({"pos": KeyFramer("LinearQuat", key, np.zeros(1, np.float32), np.ones(1, np.float32))}))
    assert data == b"".join(
        [
            b"NEL_ANIM\x02" + b"\0\0\0\0",
            b"\1\0\0\0" + b"\3\0\0\0pos" + b"\0\0\0\0",
            b"\1\0\0\0" + b"\1\0\0\0\0\0\0\0" + b"\x19\0\0\0CTrackKeyFramerLinearQuat",
            b"\0" + b"\1\0\0\0" + struct.pack("<fB4f", 0.5, 0, 0.0, 0.0, 0.0, 1.0),
            b"\0" + struct.pack("<2f", 0.0, 1.0) + b"\0",
            b"\xff\xff\x7f\xff" + b"\0\0\0\0",
        ]
    )


@pytest.mark.shared
def test_sizes_of_real_animations(shared: Path) -> None:
    """Real files of 31 rotation and 4 position tracks, a key a frame, differ by whole frames of keys as written here."""

    def size(keys: int) -> int:
        times = np.arange(keys, dtype=np.float32)
        rotations = {
            f"r{n}": KeyFramer("LinearQuat", key_records("LinearQuat", times), times[:1], times[:1]) for n in range(31)
        }
        positions = {
            f"p{n}": KeyFramer("LinearVector", key_records("LinearVector", times), times[:1], times[:1]) for n in range(4)
        }
        return len(anim_bytes(animation({**rotations, **positions})))

    told = map(json.loads, (shared / "nel" / "found-not-copied.jsonl").read_text().splitlines())
    biped = {"CTrackKeyFramerLinearQuat": 31, "CTrackKeyFramerLinearVector": 4}
    sizes = sorted({entry["bytes"] for entry in told if entry.get("tracks") == biped and entry["class_version"] == 1})
    assert len(sizes) > 3
    assert {(larger - sizes[0]) % (size(2) - size(1)) for larger in sizes} == {0}


def test_a_damaged_animation_is_refused() -> None:
    rng = np.random.default_rng(1)
    data = anim_bytes(animation({name: random_track(name, rng) for name in CLASSES}))
    refuse_damage(data, parse_anim, anim_bytes, list(range(0, len(data), 7)))


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"NEL_ANIM\3", "version 3"),
        (b"NEL_ANIM\2\0\0\0\0\xff\xff\xff\x7f", "do not fit"),
        (b"NEL_ANIM\2\0\0\0\0\0\0\0\0\xff\xff\xff\xff", "do not fit"),
        (b"NEL_ANIM\2\xff\xff\xff\xff", "cut off"),
        (b"NEL_ANIM\0\0\0\0\0\0\0\0\0\0\0\0\0!", "follow the end"),
        (b"NEL_ANIM\0\0\0\0\0\1\0\0\0\1\0\0\0a\0\0\0\0\0\0\0\0", "points to number 0 of 0"),
        (b"NEL_ANIM\0\0\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0C", "class 'C' is not known"),
        (b"SHAP\0\0\0\0\0\0\0\0", "does not begin"),
        (b"NEL_ANIM\0\0\0\0\0\0\0\0\0" + struct.pack("<i", 1_000_000) + bytes(8_000_000), "more than maxik reads"),
    ],
)
def test_hostile_animations_are_refused(data: bytes, what: str) -> None:
    with pytest.raises(FileFormatError, match=what):
        parse_anim(data, "x.anim")


# rotations


quats = arrays(np.float32, st.tuples(st.integers(1, 12), st.just(4)), elements=st.floats(-1, 1, width=32))


@given(quats)
def test_make_closest_leaves_no_negative_dot_product(q: NDArray[np.float32]) -> None:
    """Against the rule itself, key by key: negate where the dot product with the one stored before is negative."""
    stored = [q[0]]
    for row in q[1:]:
        dot = np.float32(sum(float(a) * float(b) for a, b in zip(stored[-1], row, strict=True)))
        stored.append(-row if dot < 0 else row)
    found = make_closest(q)
    assert (found == np.array(stored)).all()
    assert (np.einsum("ij,ij->i", found[1:].astype(np.float64), found[:-1]).astype(np.float32) >= 0).all()


def test_normalising_is_almost_always_settled_after_one_step() -> None:
    """nel-facts.md 1.5: real keys, normalised again by this rule, stay what they are in 98.3 % of cases."""
    q = np.random.default_rng(2).normal(size=(20000, 4)).astype(np.float32)
    twice = normalise(normalise(q))
    assert np.abs(np.linalg.norm(twice.astype(np.float64), axis=1) - 1).max() < 1.2e-7
    assert (normalise(twice) == twice).all(axis=1).mean() == pytest.approx(0.983, abs=0.01)
    assert (normalise(np.zeros((1, 4), np.float32)) == 0).all()


# the builder


def test_samples_of_a_take() -> None:
    """nel-facts.md 3.2: takes of k frames whose samples fall on the frames, 287 of k = 1 to 600."""
    aligned = [k for k in range(1, 601) if len(sample_times(np.float32(0), np.float32(k / 30))) == k + 1]
    assert len(aligned) == 287
    listed = [*range(1, 15), 16, 18, 20, 22, 24, 26, 28, 32, 33, 36, 37, 40, 41, 44, 47, 48]
    assert [k for k in aligned if k <= 48] == listed
    assert len(sample_times(np.float32(0), np.float32(1.0666667))) == 33
    times = sample_times(np.float32(1.5), np.float32(4.0))
    assert (times[0], times[-1]) == (np.float32(1.5), np.float32(4.0))
    with pytest.raises(UsageError, match="too long"):
        sample_times(np.float32(0), np.float32(3e38))


def turning(angles: NDArray[np.floating], times: NDArray[np.floating]) -> KeyFramer:
    """Return a track that turns about z by angles in radians."""
    half = np.asarray(angles, np.float64) / 2
    zero = np.zeros_like(half)
    q = np.stack([zero, zero, np.sin(half), np.cos(half)], axis=1).astype(np.float32)
    at = np.asarray(times, np.float32)
    return KeyFramer("LinearQuat", key_records("LinearQuat", at, value=q), at[:1], at[-1:])


def built_track(name: str, track: KeyFramer) -> Track:
    data = anim_bytes(build(animation({name: track})))
    return parse_anim(data).named()[name]


def test_a_rotation_that_stays_within_the_threshold_is_a_default() -> None:
    """nel-facts.md 3.2: 2.828 mrad, ten times as much for fingers; the first key stays in float32."""
    times = np.arange(33) / 30
    for name, inside, outside in (("a.rotquat", 0.0027, 0.0030), ("L Finger0.rotquat", 0.027, 0.030)):
        still = built_track(name, turning(np.linspace(0.5, 0.5 + inside, 33), times))
        assert isinstance(still, DefaultTrack)
        value = turning(np.array([0.5]), times[:1]).keys["value"]
        assert np.asarray(still.value).tobytes() == normalise(value)[0].tobytes()
        assert isinstance(built_track(name, turning(np.linspace(0.5, 0.5 + outside, 33), times)), SampledTrack)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.floats(-1, 1), min_size=33, max_size=33), st.sampled_from((33, 12, 30)))
def test_what_is_kept_of_a_built_rotation_is_packed(steps: list[float], count: int) -> None:
    times = np.arange(count, dtype=np.float32) / np.float32(30)
    track = turning(np.cumsum(steps[:count]), times)
    built = built_track("x.rotquat", track)
    if isinstance(built, DefaultTrack):
        assert np.ptp(np.cumsum(steps[:count])) < 0.006
        return
    assert isinstance(built, SampledTrack)
    begin, end, total, _, delta, inverse = built.spans.tolist()
    samples = round((end - begin) / delta) + 1
    assert (begin, end, total) == (0.0, float(times[-1]), float(times[-1]))
    assert inverse == pytest.approx(1 / delta, rel=1e-6)
    at = [block.time_offset + time for block in built.blocks for time in block.times]
    assert at[0] == 0
    assert at[-1] == samples - 1
    assert len(at) == len(built.keys)
    assert max(np.diff(at)) <= 255
    ends = pack(make_closest(normalise(track.keys["value"])))
    assert (built.keys[[0, -1]] == ends[[0, -1]]).all()
    if samples == count:  # the samples lie on the keys, but for times that were added up in float32
        assert np.abs(built.keys.astype(np.int64) - ends[at]).max() <= 2


def test_long_takes_fall_into_blocks() -> None:
    """Neighbouring keys are at most 255 samples apart, and so are a block's first and last (nel-facts.md 2.3)."""
    count = 1200
    angles = np.where(np.arange(count) < 1000, 0.0, 0.05 * np.arange(count))
    built = built_track("x.rotquat", turning(angles, np.arange(count) / 30))
    assert isinstance(built, SampledTrack)
    assert len(built.blocks) > 1
    at = np.array([block.time_offset + time for block in built.blocks for time in block.times])
    assert (np.diff(at) <= 255).all()
    assert (np.diff(at) > 0).all()
    assert [block.key_offset for block in built.blocks] == np.cumsum([0, *[len(b.times) for b in built.blocks[:-1]]]).tolist()
    assert all(block.times[0] == 0 for block in built.blocks)


def test_a_straight_line_from_the_start_is_thinned_only_by_its_threshold() -> None:
    """The builder's parameter is 0 behind sample 0, so a sample is compared with the first, not with the line (3.2)."""
    times = np.arange(33, dtype=np.float32) / np.float32(30)
    value = np.zeros((33, 3), np.float32)
    value[:, 0] = np.arange(33)
    track = KeyFramer("LinearVector", key_records("LinearVector", times, value=value), times[:1], times[-1:])
    built = built_track("pos", track)
    assert isinstance(built, SampledTrack)
    at = [block.time_offset + time for block in built.blocks for time in block.times]
    assert at[:2] == [0, 1]
    np.testing.assert_allclose(built.keys, value[at], atol=1e-4)


# a baked scene


def bake(scene: Scene, frames: int = 33) -> BakedScene:
    return bake_scene(scene, BakeOptions(frames=(0, frames - 1)))[0]


def rig() -> Scene:
    """Return the limb with a goal that moves by Bezier keys and a hand that turns by linear keys."""
    scene = limb_scene()
    goal, hand = scene.nodes[4], scene.nodes[3]
    tangents = ((0.01, 0.0, 0.0),) * 2
    path = BezierTrack((0, 5120), ((6.0, 2.0, 3.0), (4.0, 1.0, 5.0)), tangents, tangents, tangents, tangents, (0, 0), (5, 2))
    turn = QuatRotation(SlerpTrack((0, 2560), ((0.0, 0.0, 0.0, 1.0), (0.6, 0.0, 0.0, 0.8))))
    goal = replace(goal, transform=replace(goal.transform, position=path))
    hand = replace(hand, transform=replace(hand.transform, rotation=turn))
    return replace(scene, nodes=(*scene.nodes[:3], hand, goal))


def written(baked: BakedScene, **options: str) -> dict[str, Track]:
    return parse_anim(render_anim(baked, {}, WriteOptions(**options))).named()  # type: ignore[arg-type]


def turned(q: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the column matrices of quaternions of the usual convention."""
    x, y, z, w = q.astype(np.float64).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.array(rows).transpose(2, 0, 1)


def test_every_node_is_sampled_in_the_exporters_order() -> None:
    baked = bake(rig())
    found = parse_anim(render_anim(baked, {}))
    order = [name for name, _ in sorted(found.names, key=lambda entry: entry[1])]
    below = [f"{bone}.{part}" for bone in ("upper arm", "forearm", "hand") for part in ("rotquat", "pos")]
    assert order == ["rotquat", "pos", *below, "goal.rotquat", "goal.pos"]
    assert (found.version, found.minimum_end) == (2, np.array([-3.4028235e38], np.float32))
    tracks = found.named()
    for index, entry in enumerate(baked.scene.nodes):
        prefix = "" if index == 0 else f"{entry.name}."
        rotation, position = tracks[f"{prefix}rotquat"], tracks[f"{prefix}pos"]
        assert isinstance(rotation, KeyFramer)
        assert isinstance(position, KeyFramer)
        assert (rotation.kind, position.kind) == ("LinearQuat", "LinearVector")
        assert rotation.keys["time"].tolist() == [float(np.float32(tick) / np.float32(4800)) for tick in baked.ticks]
        wanted = np.broadcast_to(baked.nodes[index].position, (33, 3)).astype(np.float32)
        assert position.keys["value"].tobytes() == wanted.tobytes()
        q = rotation.keys["value"]
        columns = np.broadcast_to(baked.nodes[index].rotation, (33, 3, 3)).transpose(0, 2, 1)
        np.testing.assert_allclose(turned(q), columns, atol=5e-7)
        assert (np.einsum("ij,ij->i", q[1:], q[:-1]) >= 0).all()


def test_packed_keys_are_codes_of_the_bake() -> None:
    baked = bake(rig())
    raw, packed = written(baked), written(baked, nel_tracks="packed")
    assert set(raw) == set(packed)
    assert isinstance(packed["hand.pos"], DefaultTrack)
    arm, keys = packed["upper arm.rotquat"], raw["upper arm.rotquat"]
    assert isinstance(arm, SampledTrack)
    assert isinstance(keys, KeyFramer)
    at = [block.time_offset + time for block in arm.blocks for time in block.times]
    wanted = make_closest(normalise(keys.keys["value"]))[at].astype(np.float64)
    wanted /= np.sqrt((wanted**2).sum(axis=1, keepdims=True))
    assert (arm.keys == np.floor(wanted * 32767 + 0.5)).all()


scales = st.tuples(*[st.sampled_from((-1.5, -1.0, 0.5, 1.0, 2.0))] * 3)
angles = st.tuples(*[st.floats(-3, 3)] * 3)
axes = st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: sum(c * c for c in q) > 0.1)


@settings(deadline=None, max_examples=60)
@given(angles, scales, axes)
def test_turn_and_scale_are_the_polar_parts_of_the_local_tm(euler: Any, scale: Any, axis: Any) -> None:  # noqa: ANN401
    """A mirrored TM has the turn of the negated matrix, and a negative scale (nel-facts.md 1.4); by singular values."""
    length = sum(c * c for c in axis) ** 0.5
    entry = node("n", None, euler=euler, scale=scale, scale_axis=[c / length for c in axis])
    motion = bake(Scene("one", (entry,)), 1).nodes[0]
    local = motion.local_tm[0, :3].astype(np.float64)
    sign = np.sign(np.linalg.det(local))
    u, stretch, v = np.linalg.svd(local * sign)
    np.testing.assert_allclose(turned(rotations(motion))[0], (u @ v).T, atol=3e-6)
    np.testing.assert_allclose(scales_of(motion)[0], sign * np.diag(u @ np.diag(stretch) @ u.T), atol=3e-6)


@pytest.mark.shared
def test_the_first_key_has_the_sign_that_real_rest_poses_have(shared: Path) -> None:
    (motion,) = bake(Scene("one", (node("n", None),)), 1).nodes
    same = []
    for path in skeleton_files(shared):
        for bone in read_skel(path).bones:
            matrix = turned(bone.rotation[None]).transpose(0, 2, 1).astype(np.float32)
            found = rotations(replace(motion, rotation=matrix))[0]
            same.append(float(found.astype(np.float64) @ bone.rotation) > 0)
    assert np.mean(same) > 0.97


def test_faithful_copies_keys_and_names_what_it_leaves_out(tmp_path: Path) -> None:
    baked = bake(rig())
    tracks = written(baked, nel_mode="faithful")
    assert set(tracks) == {"hand.rotquat", "goal.pos"}
    hand, goal = tracks["hand.rotquat"], tracks["goal.pos"]
    assert isinstance(hand, KeyFramer)
    assert isinstance(goal, KeyFramer)
    assert hand.kind == "LinearQuat"
    assert hand.keys["value"].tolist() == np.array([[0, 0, 0, -1], [0.6, 0, 0, -0.8]], np.float32).tolist()
    assert goal.kind == "BezierVector"
    assert goal.keys["time"].tolist() == [0.0, float(np.float32(5120 / 4800))]
    assert goal.keys["out"][:, 0].tolist() == [float(np.float32(0.01) * np.float32(4800))] * 2
    assert goal.keys["step"].tolist() == [0, 1]
    found = {(entry.node, entry.part): entry.why for entry in left_out(baked, WriteOptions(nel_mode="faithful"))}
    assert found == {
        ("root", "rotation"): "Euler angles",
        ("upper arm", "rotation"): "set by the IK chain 'arm'",
        ("forearm", "rotation"): "set by the IK chain 'arm'",
        ("goal", "rotation"): "Euler angles",
    }
    assert left_out(baked) == ()
    assert "upper arm.rotquat" in written(baked)
    listed = replace(baked.scene, nodes=(*baked.scene.nodes[:4], replace(baked.scene.nodes[4], lists=("position",))))
    write_scene_json(listed, tmp_path / "listed.scene.json")
    listed = read_scene_json(tmp_path / "listed.scene.json")
    assert set(written(bake(listed), nel_mode="faithful")) == {"hand.rotquat"}
    assert ("goal", "position", "list") in {
        (entry.node, entry.part, entry.why) for entry in left_out(bake(listed), WriteOptions(nel_mode="faithful"))
    }
    packed = left_out(baked, WriteOptions(nel_mode="faithful", nel_tracks="packed"))
    assert [(entry.node, entry.part) for entry in packed if "not packed" in entry.why] == [("goal", "position")]


def test_tcb_rotations_are_turns_from_key_to_key() -> None:
    """Axis as is, angle negated, relative to the key before (nel-facts.md 1.7)."""
    quarter = float(np.sqrt(0.5))
    keys = ((0.0, 0.0, quarter, quarter), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, quarter, quarter))
    tcb = ((0.1, 0.2, 0.3, 0.4, 0.5),) * 3
    entry = node("n", None)
    entry = replace(
        entry, transform=replace(entry.transform, rotation=QuatRotation(TcbRotationTrack((0, 160, 320), keys, tcb)))
    )
    track = written(bake(Scene("one", (entry,))), nel_mode="faithful")["rotquat"]
    assert isinstance(track, KeyFramer)
    assert track.kind == "TCBQuat"
    turns = track.keys["axis"][:, 2] * track.keys["angle"]
    np.testing.assert_allclose(turns, [-np.pi / 2, -np.pi / 2, np.pi / 2], atol=1e-6)
    names = ("tension", "continuity", "bias", "ease_to", "ease_from")
    assert [float(track.keys[name][1]) for name in names] == np.array(tcb[0], np.float32).tolist()


def test_bip01_comes_first_and_other_roots_have_their_name_before_them() -> None:
    scene = Scene("two", (node("box", None), node("Bip01", None), node("lid", 0), node("Bip01 Spine", 1), node("box", None)))
    baked = bake(scene, 1)
    found = parse_anim(render_anim(baked, {}))
    order = [name.removesuffix("rotquat") for name, _ in sorted(found.names, key=lambda e: e[1]) if name.endswith("rotquat")]
    assert order == ["", "Bip01 Spine.", "box.", "box.lid."]
    (twin,) = left_out(baked)
    assert (twin.node, twin.why) == ("box", "a node before it has the same name")
    assert "1 parts of nodes" in left_out_line((twin,))


def test_what_an_animation_cannot_hold_is_refused() -> None:
    entry = node("n", None)
    bad = replace(entry, transform=replace(entry.transform, position=LinearTrack((0, 160), ((0.0,) * 3, (float("nan"),) * 3))))
    baked = bake(Scene("one", (bad,)))
    for mode in ("bake", "faithful"):
        with pytest.raises(SceneError, match="not finite") as caught:
            render_anim(baked, {}, WriteOptions(nel_mode=mode))
        assert caught.value.node == "n"
    with pytest.raises(SceneError, match="UTF-8"):
        render_anim(bake(Scene("one", (node("\ud800", None),))), {})
    with pytest.raises(UsageError, match="wild"):
        render_anim(baked, {}, WriteOptions(nel_mode="wild"))


def test_the_command_line_tells_what_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = tmp_path / "rig.scene.json", tmp_path / "rig.anim"
    write_scene_json(rig(), source)
    call = ["bake", str(source), "-o", str(target), "--range", "0:32"]
    assert main([*call, "--nel-mode", "faithful"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("left out")]
    assert "4 parts" in line
    assert "'upper arm', 'forearm' (set by the IK chain 'arm')" in line
    assert set(read_anim(target).named()) == {"hand.rotquat", "goal.pos"}
    assert main([*call, "--nel", "packed"]) == 0
    assert "left out" not in capsys.readouterr().out
    assert isinstance(read_anim(target).named()["upper arm.rotquat"], SampledTrack)


@pytest.mark.shared
def test_lists_of_a_real_scene_are_known(shared: Path) -> None:
    """22 nodes have 22 Position XYZ, 5 Bezier positions more, and 27 Euler XYZ (index.jsonl): 5 lists of each."""
    scene = read_max(shared / "maxfiles" / "piXelicidio-pxMaxScript__test02.max")
    parts = [part for entry in scene.nodes for part in entry.lists]
    assert sorted(parts) == ["position"] * 5 + ["rotation"] * 5
    found = left_out(bake(scene, 1), WriteOptions(nel_mode="faithful"))
    named = {(entry.node, entry.part) for entry in found}
    assert all((entry.name, part) in named for entry in scene.nodes for part in entry.lists)
    assert sum(entry.why == "list" and entry.part == "position" for entry in found) == 5


@pytest.mark.parametrize(("times", "angle"), [((0.0, 0.0), 1.0), ((0.0, float("inf")), 1.0), ((0.0, 1.0), float("nan"))])
def test_what_cannot_be_built_is_refused(times: tuple[float, ...], angle: float) -> None:
    with pytest.raises(UsageError, match="cannot be built"):
        build(animation({"arm.rotquat": turning(np.array([0.0, angle]), np.array(times))}))
