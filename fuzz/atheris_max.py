"""Coverage-guided fuzzing of the .max reader with atheris: the chunk tree, a scene's streams, or whole files.

    pip install atheris
    python fuzz/atheris_max.py chunks|scene|file [CORPUS_FOLDER] [libFuzzer options, as -runs=100000]

"chunks" takes the input for a stream and walks it down; "scene" takes it for the Scene stream of a file whose class table is
whole; "file" takes it for a whole file, for which a corpus of real files is needed. Anything but a scene or a MaxikError is
a crash, which libFuzzer reports with its input.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
with atheris.instrument_imports(include=["maxik", "olefile"]):
    from max_builder import MaxScene
    from max_mutations import take_it
    from maxik.errors import MaxikError
    from maxik.formats.max.chunks import Chunk, children
    from maxik.formats.max.container import Stream
    from ole_writer import ole_file

_FOLDER = Path(tempfile.mkdtemp(prefix="maxik-fuzz-"))
_STREAMS = MaxScene().streams()


def chunks(data: bytes) -> None:
    """Walk the whole chunk tree of a stream."""
    stream = Stream("fuzzed.max", "Scene", data)
    waiting = [Chunk(0, is_container=True, start=0, end=len(data))]
    try:
        while waiting:
            chunk = waiting.pop()
            waiting += [part for part in children(stream, chunk.start, chunk.end) if part.is_container]
    except MaxikError:
        pass


def scene(data: bytes) -> None:
    """Read, inspect and bake a file with this Scene stream."""
    take_it(ole_file({**_STREAMS, "Scene": data or b"\0"}), _FOLDER / "fuzzed.max")


def whole_file(data: bytes) -> None:
    """Read, inspect and bake this file."""
    take_it(data, _FOLDER / "fuzzed.max")


TARGETS: dict[str, Callable[[bytes], None]] = {"chunks": chunks, "scene": scene, "file": whole_file}


def main() -> None:
    """Fuzz the target that the first argument names."""
    if len(sys.argv) < 2 or sys.argv[1] not in TARGETS:  # noqa: PLR2004 - a name has to be there
        sys.exit(f"usage: {sys.argv[0]} {'|'.join(TARGETS)} [CORPUS_FOLDER] [libFuzzer options]")
    target = TARGETS[sys.argv.pop(1)]
    atheris.Setup(sys.argv, target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
