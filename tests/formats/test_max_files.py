"""The .max reader on every real scene of the reference data: counts, versions, values that 3ds Max itself cached."""

from __future__ import annotations

import json
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from maxik.formats.max import classes as c
from maxik.formats.max import read_max
from maxik.formats.max.container import read_streams
from maxik.formats.max.controllers import Controllers
from maxik.formats.max.keys import INTERVAL, cached_value, key_frame_parts, read_keys
from maxik.formats.max.objects import Objects, read_classes
from maxik.scene.scene import Scene
from maxik.scene.tracks import ConstantTrack
from maxik.scene.transform import EulerRotation, tracks_of

pytestmark = pytest.mark.shared


def scene_files(shared: Path) -> list[Path]:
    files = sorted((shared / "maxfiles").glob("*.max"))
    assert len(files) >= 24
    return files


@pytest.fixture(scope="module")
def index(shared: Path) -> dict[str, dict[str, Any]]:
    lines = (shared / "maxfiles" / "index.jsonl").read_text(encoding="utf-8").splitlines()
    return {entry["file"]: entry for entry in map(json.loads, lines) if entry.get("copied")}


@pytest.fixture(scope="module")
def scenes(shared: Path) -> dict[str, Scene]:
    return {path.name: read_max(path) for path in scene_files(shared)}


def test_every_file_loads_with_its_nodes_and_chains(scenes: dict[str, Scene], index: dict[str, dict[str, Any]]) -> None:
    for name, scene in scenes.items():
        assert len(scene.nodes) == index[name]["nodes"], name
        assert Counter(chain.solver for chain in scene.chains) == index[name]["ik_solvers"], name


def test_controller_classes_are_those_of_the_file(scenes: dict[str, Scene], index: dict[str, dict[str, Any]]) -> None:
    for name, scene in scenes.items():
        assert Counter(node.controller_class for node in scene.nodes) == index[name]["node_tm_controllers"], name


def test_versions(scenes: dict[str, Scene], index: dict[str, dict[str, Any]]) -> None:
    for name, scene in scenes.items():
        told = {scene.source.get("version", "?"), scene.source.get("saved_as", "?")}
        assert any(version.startswith(index[name]["max_version"]) for version in told), name
        assert scene.source["root_chunk"] == index[name]["scene_root_chunk"], name


def test_every_node_is_evaluated_or_named(scenes: dict[str, Scene]) -> None:
    """A node whose transform is not one of the kinds that are evaluated has an unsupported notice."""
    evaluated = {"Position/Rotation/Scale", "Look At", "IKControl", "IKChainControl"}
    for name, scene in scenes.items():
        named = {notice.node for notice in scene.notices if notice.kind == "unsupported"}
        for place, node in enumerate(scene.nodes):
            assert node.controller_class in evaluated or place in named, f"{name}: {node.name} {node.controller_class}"


def test_values_are_finite_over_the_whole_range(scenes: dict[str, Scene]) -> None:
    for name, scene in scenes.items():
        ticks = np.linspace(scene.first_tick, scene.last_tick, 50).astype(np.int64)
        for node in scene.nodes:
            for _, track in tracks_of(node.transform):
                assert np.isfinite(track.at(ticks)).all(), f"{name}: {node.name}"


def test_keyed_floats_pass_through_the_values_that_3ds_max_cached(shared: Path) -> None:
    """max-format.md 5.3: exact on a key, within 2e-5 of the track's range between keys."""
    on_key = between = 0
    for path in scene_files(shared):
        streams = read_streams(path, ("Scene", "ClassDirectory3"))
        objects = Objects(streams["Scene"], read_classes(streams["ClassDirectory3"]))
        for place in objects.by_class.get(c.BEZIER_FLOAT, []):
            keys = read_keys(objects, place)
            if keys is None:
                continue
            start, end = struct.unpack("<2i", objects.bytes_of(key_frame_parts(objects, place)[INTERVAL]))
            cached = cached_value(objects, place)
            times = keys.track.times
            if start != end or cached is None or not times[0] <= start <= times[-1]:
                continue
            value = float(keys.track.at(np.array([start], np.int64))[0, 0])
            if start in times:
                on_key += 1
                assert value == cached[0], f"{path.name} object {place} at key {start}"
            else:
                between += 1
                span = max(row[0] for row in keys.track.values) - min(row[0] for row in keys.track.values)
                assert abs(value - cached[0]) <= 2e-5 * span + 1e-6 * abs(cached[0]), f"{path.name} object {place} at {start}"
    assert on_key > 50
    assert between >= 10


def test_the_oldest_ik_scene_has_its_limb_chains(scenes: dict[str, Scene]) -> None:
    scene = scenes["davestewart-maxscript__character.max"]
    limbs = [chain for chain in scene.chains if chain.solver == "IKLimb"]
    assert len(limbs) == 4
    scales = {scene.nodes[chain.start].transform.scale.at(np.zeros(1, np.int64))[0].round(3).tobytes() for chain in limbs}
    assert np.array([-1, -1, -1], np.float32).tobytes() in scales
    for chain in limbs:
        assert isinstance(chain.enabled, ConstantTrack)
        assert chain.enabled.value == (1.0,)
        assert scene.nodes[chain.start].joint is not None


def test_preferred_angles_are_near_the_fk_angles(scenes: dict[str, Scene]) -> None:
    """max-format.md 7.3: equal or near, modulo turns."""
    scene = scenes["davestewart-maxscript__IK.max"]
    zero = np.zeros(1, np.int64)
    for node in scene.nodes:
        if node.joint is not None:
            fk = np.array([getattr(node.transform.rotation, axis).at(zero)[0, 0] for axis in "xyz"])
            difference = np.angle(np.exp(1j * (node.joint.preferred.at(zero)[0] - fk)))
            assert np.abs(difference).max() < 0.5, node.name


def test_euler_keys_are_those_of_an_independent_reader(shared: Path, scenes: dict[str, Scene]) -> None:
    """The planes of bones_02 carry recorded Euler XYZ keys; pairs/ has them as they were extracted independently."""
    recorded = json.loads((shared / "maxfiles" / "pairs" / "davestewart-maxscript__bones_02.baked_planes.json").read_text())
    scene = scenes["davestewart-maxscript__bones_02.max"]
    assert len(recorded["bones"]) == 17
    for bone in recorded["bones"].values():
        node = next(node for node in scene.nodes if node.name == bone["baked_on"])
        ticks = np.array(bone["frames"], np.float64).astype(np.int64) * 160
        assert isinstance(node.transform.rotation, EulerRotation)
        angles = [getattr(node.transform.rotation, axis).at(ticks)[:, 0] for axis in "xyz"]
        assert np.array(angles).T.tolist() == np.array(bone["euler_xyz_rad"], np.float32).tolist()


def test_nodes_with_the_same_name_stay_apart(scenes: dict[str, Scene]) -> None:
    repeated = [
        name for scene in scenes.values() for name, count in Counter(node.name for node in scene.nodes).items() if count > 1
    ]
    assert repeated


def test_a_wrapped_controller_is_used_and_named(shared: Path) -> None:
    path = shared / "maxfiles" / "davestewart-maxscript__character.max"
    streams = read_streams(path, ("Scene", "ClassDirectory3"))
    objects = Objects(streams["Scene"], read_classes(streams["ClassDirectory3"]))
    spring = next(i for i in range(len(objects)) if objects.class_of(i).name == "Spring")
    controllers = Controllers(objects)
    assert controllers.position_track(spring).size == 3
    assert [notice.class_name for notice in controllers.notices] == ["Spring"]
