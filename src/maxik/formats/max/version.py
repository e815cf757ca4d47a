"""Which 3ds Max wrote a file (max-format.md 1, Versions)."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from maxik.formats.max.chunks import children
from maxik.formats.max.container import Stream

_APPLICATION = 0x21C0
_SAVED_AS = 0x2173
_GENERATIONS = {
    0x2004: 3100, 0x2006: 4000, 0x2008: 5000, 0x2009: 6000, 0x200A: 7000, 0x200B: 8000, 0x200E: 9000, 0x2010: 10000,
    0x2011: 11000, 0x2012: 12000, 0x2013: 13000, 0x2014: 14000, 0x2017: 15000, 0x2019: 16000, 0x2021: 18000,
    0x2022: 19000, 0x2023: 20000, 0x2025: 22000,
}  # fmt: skip
"""Root chunk id -> release times 1000 of the file's format generation."""


def describe(root_id: int, streams: Mapping[str, Stream]) -> dict[str, str]:
    """Return format, version, build, saved-as version and root chunk as text, as far as the file tells them."""
    build, release = _application(streams.get("DllDirectory"))
    told = {"format": "3ds Max scene", "root_chunk": f"{root_id:#06x}"}
    generation = _GENERATIONS.get(root_id)
    if release or generation:
        told["version"] = version_name(release or generation or 0)
    if build:
        told["build"] = str(build)
    saved_as = _word(streams.get("SaveConfigData"), _SAVED_AS) or (generation if release else None)
    if saved_as:
        told["saved_as"] = version_name(saved_as)
    script = streams.get("ScriptedCustAttribDefs")
    if script is not None and script.data:
        told["scripts"] = f"{len(script.data)} bytes of script definitions, never run"
    if generation is None:
        told["note"] = "the root chunk is of no known generation; read on as far as it is understood"
    return told


def version_name(release: int) -> str:
    """Return the product's name for a release times 1000: 3100 is 3ds Max 3.1, 18000 is 3ds Max 2016."""
    major, minor = divmod(release, 1000)
    if major >= 10:  # noqa: PLR2004 - 3ds Max 2008 was release 10
        return f"3ds Max {major + 1998}"
    return f"3ds Max {major}" + (f".{minor // 100}" if minor else "")


def _application(stream: Stream | None) -> tuple[int, int]:
    """Return (build, release times 1000) of the application that wrote the file; zeros where it does not say."""
    for chunk in children(stream) if stream else ():
        if stream and chunk.id == _APPLICATION and chunk.end - chunk.start >= 4:  # noqa: PLR2004 - two u16
            build, release = struct.unpack_from("<HH", stream.data, chunk.start)
            return build, release
    return 0, 0


def _word(stream: Stream | None, ident: int) -> int:
    for chunk in children(stream) if stream else ():
        if stream and chunk.id == ident and chunk.end - chunk.start >= 4:  # noqa: PLR2004 - two u16
            return int(struct.unpack_from("<HH", stream.data, chunk.start)[1])
    return 0
