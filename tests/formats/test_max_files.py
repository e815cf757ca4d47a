"""The .max reader on every real scene of the reference data: counts, versions, values that 3ds Max itself cached."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exports import compare_all, recorded_hi_solution
from maxik.bake import BakeOptions, bake_scene
from maxik.formats.max import read_max
from maxik.formats.max.cached import BETWEEN, ON_KEY, ONE_KEY, OUTSIDE, cached_values
from maxik.formats.max.container import read_streams
from maxik.formats.max.controllers import Controllers
from maxik.formats.max.objects import Objects, read_classes
from maxik.formats.scene_json import read_scene_json, write_scene_json
from maxik.inspect import inspect_scene, render
from maxik.scene.scene import Scene
from maxik.scene.tracks import ConstantTrack
from maxik.scene.transform import tracks_of

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


def test_every_keyed_track_passes_through_the_value_that_3ds_max_cached(shared: Path) -> None:
    """On a key every bit; between keys within 2e-7 of the track's range, four of five to the bit; none outside its keys."""
    found = [value for path in scene_files(shared) for value in cached_values(path)]
    places = Counter(value.place for value in found)
    assert places[ON_KEY] >= 600
    assert places[BETWEEN] >= 100
    assert places[OUTSIDE] == 0
    assert {value.class_name for value in found} >= {"Bezier Float", "Bezier Position", "Bezier Scale", "Linear Float"}
    for value in found:
        assert value.error <= (
            1e-7 if value.place in (ON_KEY, ONE_KEY) else 1e-6 + 2e-7 * value.error / (value.share or 1.0)
        ), value
    between = [value for value in found if value.place == BETWEEN]
    assert sum(value.exact for value in between) >= 0.8 * len(between)


def test_the_exports_of_3ds_max_agree(shared: Path) -> None:
    comparisons = compare_all(shared / "maxfiles")
    assert len(comparisons) == 9
    for comparison in comparisons:
        assert comparison.samples >= 100, comparison
        assert comparison.agrees, comparison


def test_the_recorded_hi_solution_meets_its_goal(shared: Path) -> None:
    """NOTES.md of the reference data: 0.035 at frame 0, 0.001 elsewhere, with the goal's keys as maxik evaluates them."""
    end, goal = recorded_hi_solution(shared / "maxfiles")
    miss = np.linalg.norm(end - goal, axis=1)
    assert miss[0] < 0.05
    assert miss[1:].max() < 0.001


def test_everything_that_is_not_evaluated_is_named_by_inspect_and_in_the_certificate(scenes: dict[str, Scene]) -> None:
    for name, scene in scenes.items():
        inspection = inspect_scene(scene)
        _, certificate = bake_scene(scene, BakeOptions(frames=(0, 1), skip_unsupported=True))
        told = [(entry["kind"], entry["class"], entry["where"], entry["what"]) for entry in inspection["notices"]]
        certified = [(entry["kind"], entry["class"], entry["where"], entry["what"]) for entry in certificate["not_evaluated"]]
        assert Counter(told) == Counter(certified), name
        unsolved = [chain["not_solved"] for chain in inspection["chains"] if chain["not_solved"]]
        assert unsolved == [chain["reason"] for chain in certificate["chains_not_solved"]], name
        lines = list(render(inspection))
        assert all(any(what in line for line in lines) for *_, what in told), name


def test_every_scene_is_evaluated_over_its_whole_range(scenes: dict[str, Scene]) -> None:
    for name, scene in scenes.items():
        baked, certificate = bake_scene(scene, BakeOptions(fps=scene.frame_rate / 4, skip_unsupported=True))
        assert len(baked.ticks) == certificate["range"]["frames"], name
        assert all(np.isfinite(motion.world_tm).all() for motion in baked.nodes), name


def test_a_converted_scene_gives_the_same_bits(scenes: dict[str, Scene], tmp_path: Path) -> None:
    for name, scene in scenes.items():
        write_scene_json(scene, tmp_path / "scene.json")
        again = read_scene_json(tmp_path / "scene.json")
        assert again.nodes == scene.nodes, name
        options = BakeOptions(frames=(0, 3), skip_unsupported=True)
        assert bake_scene(again, options)[1]["raw_output_sha256"] == bake_scene(scene, options)[1]["raw_output_sha256"], name


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
