"""Damaged .max files: real ones with bytes flipped, numbers blown up, pieces moved, cut off; outside and inside the container.

`mutate` draws a damaged file; `take_it` does with it what a user does: read, inspect, bake a few frames. It ends in a scene
or in one clear error, and says how long it took.
"""

from __future__ import annotations

import json
import random
import struct
import time
from dataclasses import dataclass
from pathlib import Path

from maxik.bake import BakeOptions, bake_scene
from maxik.errors import MaxikError
from maxik.formats.max import read_max
from maxik.formats.max.container import read_streams
from maxik.inspect import inspect_scene, render
from ole_writer import ole_file

STREAMS = ("Scene", "ClassDirectory3", "DllDirectory", "Config", "SaveConfigData", "ScriptedCustAttribDefs")
NASTY = (0, 1, 5, 6, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0x80000006, 0xFFFFFFFF)
CONTAINER, CHUNKS = "container", "chunks"


@dataclass(frozen=True)
class Sample:
    """A whole file as it is, and its streams, inflated."""

    name: str
    content: bytes
    streams: dict[str, bytes]


@dataclass(frozen=True)
class Outcome:
    """How a damaged file ended: "scene" or "error", the message, the seconds of computing that it took."""

    end: str
    message: str
    seconds: float


def sample(path: Path) -> Sample:
    """Return a file to damage."""
    streams = {name: bytes(stream.data) for name, stream in read_streams(path, STREAMS).items()}
    return Sample(path.name, path.read_bytes(), streams)


def mutate(draw: random.Random, given: Sample) -> bytes:
    """Return the file with some damage: half of the time of the container's bytes, else of one stream inside it."""
    if draw.random() < 0.5:
        return _damaged(draw, given.content)
    streams = dict(given.streams)
    names = [name for name, data in streams.items() if data]
    name = "Scene" if draw.random() < 0.7 else draw.choice(names)
    damage = draw.choice((_damaged, _damaged_chunk, _damaged_chunk))
    streams[name] = damage(draw, streams[name])
    return ole_file(streams)


def _damaged(draw: random.Random, content: bytes) -> bytes:
    """Return the bytes flipped, overwritten with nasty words, cut off, zeroed, or with a piece doubled or lost."""
    data = bytearray(content)
    kind = draw.randrange(7)
    for _ in range(draw.choice((1, 3, 20))):
        at = draw.randrange(len(data))
        size = min(draw.choice((1, 4, 16, 400)), len(data) - at)
        if kind == 0:
            data[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            data[at] = draw.randrange(256)
        elif kind == 2:
            struct.pack_into("<I", data, max(0, min(at & ~3, len(data) - 4)), draw.choice(NASTY))
        elif kind == 3:
            data[at : at + size] = bytes(size)
        elif kind == 4:
            other = draw.randrange(len(data))
            data[at : at + size] = data[other : other + size].ljust(size, b"\0")
        elif kind == 5:
            del data[at : at + size]
        else:
            return bytes(data[:at])
        if len(data) < 8:
            break
    return bytes(data)


def _damaged_chunk(draw: random.Random, stream: bytes) -> bytes:
    """Return the stream with a few chunk headers, or first words of payloads, changed."""
    data = bytearray(stream)
    places = _chunk_places(data, draw)
    for at in places:
        kind = draw.randrange(5)
        if kind == 0:
            struct.pack_into("<H", data, at, draw.choice((0x2034, 0x2035, 0x0960, 0x2525, 0x2500, draw.randrange(0x10000))))
        elif kind == 1:
            struct.pack_into("<I", data, at + 2, draw.choice(NASTY))
        elif kind == 2:
            (size,) = struct.unpack_from("<I", data, at + 2)
            struct.pack_into("<I", data, at + 2, size ^ 0x80000000)
        elif at + 10 <= len(data):
            word = at + 6 + 4 * (draw.randrange(12) if kind == 4 else 0)
            struct.pack_into("<I", data, min(word, len(data) - 4), _word(draw))
    return bytes(data)


def _word(draw: random.Random) -> int:
    return draw.choice((*NASTY, draw.randrange(3000), draw.getrandbits(32)))


def _chunk_places(data: bytearray, draw: random.Random) -> list[int]:
    """Return the offsets of a few chunk headers, found by walking down from the start."""
    found = []
    for _ in range(draw.choice((1, 2, 8))):
        at, end = 0, len(data)
        for _ in range(draw.randrange(1, 6)):
            headers: list[tuple[int, int, int]] = []
            while at + 6 <= end and len(headers) < 20000:
                (size,) = struct.unpack_from("<I", data, at + 2)
                whole = size & 0x7FFFFFFF
                if whole < 6 or at + whole > end:
                    break
                headers.append((at, at + whole, size >> 31))
                at += whole
            if not headers:
                break
            start, end, container = draw.choice(headers)
            found.append(start)
            if not container:
                break
            at = start + 6
    return found[-12:]


def take_it(content: bytes, path: Path) -> Outcome:
    """Read, inspect and bake a file of this content; anything but a MaxikError goes through."""
    path.write_bytes(content)
    start = time.process_time()
    try:
        scene = read_max(path)
        inspection = inspect_scene(scene)
        json.dumps(inspection, allow_nan=False)
        for _ in render(inspection):
            pass
        first = scene.first_tick / 4800.0 * scene.frame_rate
        _, certificate = bake_scene(scene, BakeOptions(frames=(first, first + 2), skip_unsupported=True))
        json.dumps(certificate, allow_nan=False)
    except MaxikError as error:
        message = str(error)
        assert "\n" not in message
        assert path.name in message, message
        return Outcome("error", message, time.process_time() - start)
    return Outcome("scene", "", time.process_time() - start)
