"""Loading .max files: seconds and memory of a whole process, for a scene of 2 MB and for one of 60 MB made by repetition.

The 60 MB file repeats the objects of a real scene; what refers to another object refers into the first copy.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from max_builder import chunk
from maxik.formats.max import read_max
from maxik.formats.max.chunks import children
from maxik.formats.max.container import read_streams
from ole_writer import ole_file

SHARED = Path(__file__).resolve().parents[2] / "shared" / "maxfiles"
TWO_MEGABYTES = "sunag-sea3d__Character-Walk_3dsMax2011.max"
PEAK = """
import resource, sys
from maxik.formats.max import read_max
scene = read_max(sys.argv[1])
print(len(scene.nodes), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
"""

FEWEST_NODES = 50
MOST_SECONDS_FOR_2, MOST_SECONDS_FOR_60, MOST_MEGABYTES_FOR_60 = 0.3, 3.0, 600

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason="needs the reference data at ../shared")


def load(path: Path) -> tuple[int, float, int]:
    """Load a file in a process of its own; return its nodes, the seconds, the peak memory in MB."""
    start = time.perf_counter()
    ran = subprocess.run([sys.executable, "-c", PEAK, str(path)], check=True, capture_output=True, text=True)
    nodes, peak = map(int, ran.stdout.split())
    return nodes, time.perf_counter() - start, peak


def sixty_megabytes(path: Path) -> Path:
    streams = read_streams(SHARED / TWO_MEGABYTES, ("Scene", "ClassDirectory3", "Config"))
    scene = streams["Scene"]
    (root,) = children(scene)
    objects = bytes(scene.data[root.start : root.end])
    repeated = chunk(root.id, [objects] * (60_000_000 // len(objects) + 1))
    path.write_bytes(
        ole_file({"Scene": repeated, **{name: bytes(streams[name].data) for name in ("ClassDirectory3", "Config")}})
    )
    return path


@pytest.mark.benchmark(group="load 2 MB")
def test_a_scene_of_2_megabytes(benchmark: BenchmarkFixture) -> None:
    scene = benchmark.pedantic(read_max, (SHARED / TWO_MEGABYTES,), rounds=15, warmup_rounds=1)
    assert len(scene.nodes) > FEWEST_NODES
    assert benchmark.stats is not None
    assert benchmark.stats.stats.median < MOST_SECONDS_FOR_2


@pytest.mark.benchmark(group="load 60 MB, a whole process")
def test_a_file_of_60_megabytes(benchmark: BenchmarkFixture, tmp_path: Path) -> None:
    path = sixty_megabytes(tmp_path / "sixty.max")
    nodes, _, peak = benchmark.pedantic(load, (path,), rounds=5)
    benchmark.extra_info.update(megabytes=path.stat().st_size / 1e6, peak_memory_megabytes=peak)
    assert nodes > FEWEST_NODES
    assert benchmark.stats is not None
    assert benchmark.stats.stats.median < MOST_SECONDS_FOR_60
    assert peak < MOST_MEGABYTES_FOR_60
