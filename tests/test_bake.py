"""Baking: ranges, certificates, and a real scene whose limbs reach their goals in the written file."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from glb_reader import Glb
from maxik.bake import BakeOptions, bake_file, bake_scene, sample_ticks, write_bake
from maxik.errors import UsageError
from maxik.profile import ITEMS, PROFILES
from maxik.scene.scene import HI, Notice
from maxik.scene.tracks import LinearTrack
from rigs import constant, limb_scene, with_chain

CHARACTER = "davestewart-maxscript__character.max"


def test_the_range_is_in_frames_and_both_ends_belong_to_it() -> None:
    scene = replace(limb_scene(), first_tick=160, last_tick=1600)
    ticks, rate = sample_ticks(scene, BakeOptions())
    assert (ticks[0], ticks[-1], len(ticks), rate) == (160, 1600, 10, 30.0)
    ticks, rate = sample_ticks(scene, BakeOptions(frames=(2, 4), fps=25))
    assert (ticks.tolist(), rate) == ([384, 576, 768], 25)
    ticks, _ = sample_ticks(scene, BakeOptions(frames=(5, 5)))
    assert ticks.tolist() == [800]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (BakeOptions(frames=(5, 4)), "no frames"),
        (BakeOptions(fps=0), "frame rate"),
        (BakeOptions(fps=float("nan")), "frame rate"),
        (BakeOptions(frames=(0, 1e9)), "too long"),
        (BakeOptions(frames=(float("nan"), 1)), "no frames"),
    ],
)
def test_an_impossible_range_or_rate(options: BakeOptions, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        sample_ticks(limb_scene(), options)


def test_the_certificate_says_what_the_bits_rest_on() -> None:
    scene = replace(limb_scene(), notices=(Notice("unsupported", "held", 2, "Noise", "position"),))
    _, certificate = bake_scene(scene, BakeOptions(frames=(0, 2)))
    assert certificate["format"] == "maxik-certificate/1"
    assert set(certificate["profile"]["items"]) == {"crt", *ITEMS}
    assert certificate["profile"]["items"]["point3.normalize"] == {"candidate": "binary64-divide", "status": "candidate"}
    (chain,) = certificate["chains"]
    assert (chain["name"], chain["frames_solved"], chain["frames_left_fk"]) == ("arm", 3, 0)
    assert chain["worst_goal_miss_in_reach"] < 1e-4
    assert certificate["not_evaluated"] == [
        {"kind": "unsupported", "node": "forearm", "class": "Noise", "where": "position", "what": "held"}
    ]
    assert json.loads(json.dumps(certificate)) == certificate


def test_the_certificate_names_degenerate_frames_and_unsolved_chains() -> None:
    _, far = bake_scene(limb_scene(goal=(90.0, 0.0, 0.0)), BakeOptions(frames=(0, 2)))
    assert far["chains"][0]["degenerate"] == {"unreachable goal: too far": {"frames": 3, "first_tick": 0}}
    assert far["chains"][0]["worst_goal_miss_in_reach"] is None
    _, other = bake_scene(with_chain(limb_scene(), solver=HI, start=0), BakeOptions(frames=(0, 2), skip_unsupported=True))
    assert other["chains"] == []
    assert "IKHISolver" in other["chains_not_solved"][0]["reason"]


def test_the_certificate_names_non_uniform_scale_but_not_rounding_noise() -> None:
    _, noisy = bake_scene(limb_scene(start_scale=(-1.0, -1.0, -0.99999994)))
    _, stretched = bake_scene(limb_scene(start_scale=(1.0, 1.1, 1.0)))
    assert [entry["chains"][0]["non_uniform_scale"] for entry in (noisy, stretched)] == [False, True]


def test_the_certificate_names_tracks_outside_their_keys() -> None:
    scene = limb_scene()
    track = LinearTrack((0, 160), ((6.0, 2.0, 3.0), (6.0, 2.0, 3.5)))
    goal = replace(scene.nodes[4], transform=replace(scene.nodes[4].transform, position=track))
    _, certificate = bake_scene(replace(scene, nodes=(*scene.nodes[:4], goal)))
    assert certificate["evaluated_outside_keys"] == [
        {"node": "goal", "where": "position", "keys": [0, 160], "held": "at the end value"}
    ]


def test_the_raw_output_hash_sees_one_bit() -> None:
    step = float(np.nextafter(np.float32(6.0), np.float32(7.0)))
    hashes = {bake_scene(limb_scene(goal=(x, 2.0, 3.0)))[1]["raw_output_sha256"] for x in (6.0, 6.0, step)}
    assert len(hashes) == 2


def test_model_and_kernel_give_one_hash() -> None:
    scene = limb_scene(swivel=constant(0.4))
    hashes = {
        bake_scene(scene, BakeOptions(engine=engine, frames=(0, 3)))[1]["raw_output_sha256"] for engine in (None, "model")
    }
    assert len(hashes) == 1


def test_a_profile_that_the_kernel_lacks_is_baked_by_the_model_with_a_notice() -> None:
    profile = PROFILES["candidate-1"].with_candidate("point3.normalize", "length-divide")
    _, certificate = bake_scene(limb_scene(), BakeOptions(profile=profile, frames=(0, 1)))
    assert certificate["engine"]["engine"] == "model"
    assert certificate["notices"]


def test_an_output_of_unknown_kind_leaves_nothing_behind(tmp_path: Path) -> None:
    baked, certificate = bake_scene(limb_scene(), BakeOptions(frames=(0, 1)))
    with pytest.raises(UsageError, match=r"\.fbx"):
        write_bake(baked, certificate, [tmp_path / "a.glb", tmp_path / "b.fbx"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.shared
def test_every_limb_of_a_real_scene_reaches_its_goal_in_the_written_file(shared: Path, tmp_path: Path) -> None:
    """End joint and goal node are composed from the .glb alone; the limb's length is that of its bones there."""
    baked, certificate = bake_file(shared / "maxfiles" / CHARACTER, BakeOptions(skip_unsupported=True))
    write_bake(baked, certificate, [tmp_path / "character.glb"])
    glb = Glb((tmp_path / "character.glb").read_bytes())
    assert len(certificate["chains"]) == 4
    scene = baked.scene
    for motion in baked.chains:
        chain = scene.chains[motion.chain]
        places = [glb.named(scene.nodes[index].name) for index in (*motion.joints, chain.end, chain.goal)]
        assert all(len(found) == 1 for found in places)
        for frame in range(0, len(baked.ticks), 10):
            *joints, goal = (glb.world(found[0], frame)[:3, 3] for found in places)
            length = sum(np.linalg.norm(b - a) for a, b in pairwise(joints))
            assert np.linalg.norm(goal - joints[0]) < length
            assert np.linalg.norm(goal - joints[-1]) < 1e-5 * length, chain.name


@pytest.mark.shared
def test_the_chains_of_another_solver_are_named_in_the_certificate(shared: Path) -> None:
    _, certificate = bake_file(shared / "maxfiles" / CHARACTER, BakeOptions(skip_unsupported=True))
    assert [entry["solver"] for entry in certificate["chains_not_solved"]] == ["IKHISolver"] * 2
    assert all("IKHISolver" in entry["reason"] for entry in certificate["chains_not_solved"])
    assert not any(chain["non_uniform_scale"] for chain in certificate["chains"])


@pytest.mark.shared
def test_every_real_scene_bakes_and_names_what_it_does_not_evaluate(shared: Path) -> None:
    for path in sorted((shared / "maxfiles").glob("*.max")):
        baked, certificate = bake_file(path, BakeOptions(skip_unsupported=True))
        assert len(baked.nodes) == certificate["scene"]["nodes"]
        assert len(certificate["not_evaluated"]) == len(baked.scene.notices)
        assert len(certificate["chains"]) + len(certificate["chains_not_solved"]) == len(baked.scene.chains)
