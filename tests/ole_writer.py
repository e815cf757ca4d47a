"""A minimal OLE container (compound file, version 3) of streams at its root: enough for what .max files are."""

from __future__ import annotations

import struct
from collections.abc import Mapping

SECTOR, MINI_SECTOR, CUTOFF = 512, 64, 4096
FREE, END, FAT_SECTOR, NO_ENTRY = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFF
ENTRIES_IN_HEADER = 109


def ole_file(streams: Mapping[str, bytes]) -> bytes:
    """Return a compound file that holds the streams; those below 4096 bytes stand in the mini stream."""
    mini, mini_fat, sectors, fat = bytearray(), list[int](), list[bytes](), list[int]()
    entries = []
    for name in sorted(streams, key=lambda name: (len(name), name.upper())):
        data = streams[name]
        if not data:
            start = END
        elif len(data) < CUTOFF:
            start = len(mini_fat)
            _add_chain(mini_fat, -(-len(data) // MINI_SECTOR))
            mini += data.ljust(len(mini_fat[start:]) * MINI_SECTOR, b"\0")
        else:
            start = _add_stream(sectors, fat, data)
        entries.append((name, start, len(data)))
    mini_start = _add_stream(sectors, fat, bytes(mini)) if mini else END
    mini_fat_start = _add_stream(sectors, fat, struct.pack(f"<{len(mini_fat)}I", *mini_fat), b"\xff") if mini_fat else END
    directory = [_entry("Root Entry", 5, mini_start, len(mini), child=1 if entries else NO_ENTRY)]
    for place, (name, start, size) in enumerate(entries, 1):
        directory.append(_entry(name, 2, start, size, right=place + 1 if place < len(entries) else NO_ENTRY))
    directory_start = _add_stream(sectors, fat, b"".join(directory))
    fat_count, difat_count = 1, 0
    while fat_count * 128 < len(fat) + fat_count + difat_count:
        fat_count += 1
        difat_count = -(-max(0, fat_count - ENTRIES_IN_HEADER) // 127)
    fat_places = list(range(len(fat), len(fat) + fat_count))
    difat_places = list(range(len(fat) + fat_count, len(fat) + fat_count + difat_count))
    fat += [FAT_SECTOR] * fat_count + [0xFFFFFFFC] * difat_count
    words = fat + [FREE] * (fat_count * 128 - len(fat))
    table = struct.pack(f"<{len(words)}I", *words)
    sectors += [table[at : at + SECTOR] for at in range(0, len(table), SECTOR)]
    beyond = fat_places[ENTRIES_IN_HEADER:]
    for place in range(difat_count):
        part = beyond[place * 127 : place * 127 + 127]
        following = difat_places[place + 1] if place + 1 < difat_count else END
        sectors.append(struct.pack("<128I", *part, *[FREE] * (127 - len(part)), following))
    header = struct.pack(
        "<8s16xHHHHH6xIIIIIIIII",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 0x3E, 3, 0xFFFE, 9, 6, 0, fat_count, directory_start, 0, CUTOFF,
        mini_fat_start, -(-len(mini_fat) // 128), difat_places[0] if difat_places else END, difat_count,
    )  # fmt: skip
    in_header = fat_places[:ENTRIES_IN_HEADER]
    header += struct.pack(f"<{ENTRIES_IN_HEADER}I", *in_header, *[FREE] * (ENTRIES_IN_HEADER - len(in_header)))
    return header + b"".join(sectors)


def _add_chain(table: list[int], count: int) -> None:
    first = len(table)
    table += [*range(first + 1, first + count), END]


def _add_stream(sectors: list[bytes], fat: list[int], data: bytes, padding: bytes = b"\0") -> int:
    start = len(fat)
    count = -(-len(data) // SECTOR)
    _add_chain(fat, count)
    padded = data.ljust(count * SECTOR, padding)
    sectors += [padded[at : at + SECTOR] for at in range(0, len(padded), SECTOR)]
    return start


def _entry(  # noqa: PLR0913 - what a directory entry holds
    name: str, kind: int, start: int, size: int, *, child: int = NO_ENTRY, right: int = NO_ENTRY
) -> bytes:
    text = name.encode("utf-16-le")
    head = struct.pack("<64sHBBIII", text, len(text) + 2, kind, 1, NO_ENTRY, right, child)
    return head + struct.pack("<16xIQQIQ", 0, 0, 0, start, size)
