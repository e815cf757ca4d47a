"""JSON values with their place: what readers of JSON files take apart, and errors that say where.

Numbers are the shortest decimals that round-trip float32; a reader also takes bit patterns of 8 hex digits, and degrees
for angles.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, NoReturn

import numpy as np

from maxik.errors import FileFormatError
from maxik.numerics.float32 import f32, from_hex


def parse_json(file: str, text: str) -> object:
    """Return parsed JSON; FileFormatError with the line where it is none."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        message = f"is not JSON: {error.msg}"
        raise FileFormatError(message, file=file, line=error.lineno) from error
    except ValueError as error:
        message = "holds a whole number with too many digits"
        raise FileFormatError(message, file=file) from error


@dataclass(frozen=True)
class At:
    """A value of the file and where it stands."""

    file: str
    path: str
    value: Any

    def fail(self, what: str) -> NoReturn:
        """Raise FileFormatError: this value is not what it should be."""
        message = f"{self.path or 'the file'}: {what}"
        raise FileFormatError(message, file=self.file)

    def has(self, key: str) -> bool:
        """Tell whether this is an object with a value other than null under `key`."""
        return isinstance(self.value, dict) and self.value.get(key) is not None

    def get(self, key: str) -> At:
        """Return the value under a key of this object."""
        if not isinstance(self.value, dict):
            self.fail("an object is expected")
        if key not in self.value:
            self.fail(f"{key!r} is missing")
        return At(self.file, f"{self.path}.{key}".lstrip("."), self.value[key])

    def only(self, keys: Sequence[str]) -> At:
        """Return this object, refusing keys that nothing reads: a misspelt one would be lost in silence."""
        if not isinstance(self.value, dict):
            self.fail("an object is expected")
        for key in self.value:
            if key not in keys:
                self.fail(f"{key!r} is no key here; there are {', '.join(keys)}")
        return self

    def items(self) -> list[At]:
        """Return the entries of this list."""
        if not isinstance(self.value, list):
            self.fail("a list is expected")
        return [At(self.file, f"{self.path}[{place}]", value) for place, value in enumerate(self.value)]

    def text(self) -> str:
        """Return this text."""
        if not isinstance(self.value, str):
            self.fail("text is expected")
        return self.value

    def flag(self, key: str) -> bool:
        """Return the true or false of a key, false where it is left out."""
        value = self.get(key).value if self.has(key) else False
        if not isinstance(value, bool):
            self.get(key).fail("true or false is expected")
        return value

    def optional_text(self, key: str) -> str:
        """Return the text of a key, "" where it is left out."""
        return self.get(key).text() if self.has(key) else ""

    def reference(self, names: Sequence[str]) -> int:
        """Return a node's index, from the index or from a name that only one node has."""
        if isinstance(self.value, str):
            found = [index for index, name in enumerate(names) if name == self.value]
            if len(found) != 1:
                self.fail(f"{len(found) or 'no'} nodes are called {self.value!r}" + ("; use the index" if found else ""))
            return found[0]
        index = self.integer()
        if not 0 <= index < len(names):
            self.fail(f"there is no node {index}: the file has {len(names)}")
        return index

    def references(self, key: str, names: Sequence[str]) -> tuple[int, ...]:
        """Return the nodes of a list, none where it is left out."""
        return tuple(entry.reference(names) for entry in self.get(key).items()) if self.has(key) else ()

    def integer(self) -> int:
        """Return this whole number of 32 bits."""
        if isinstance(self.value, bool) or not isinstance(self.value, int) or abs(self.value) > 2**31:
            self.fail("a whole number of 32 bits is expected")
        return self.value

    def plain_number(self) -> float:
        """Return this finite number as it stands, binary64."""
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            self.fail("a number is expected")
        if not abs(self.value) <= sys.float_info.max:  # a NaN too
            self.fail("a finite number is expected")
        return float(self.value)

    def number(self) -> float:
        """Return a float32, from a number or from its bit pattern."""
        if isinstance(self.value, str):
            try:
                return from_hex(self.value)
            except ValueError as error:
                self.fail(str(error))
        return self._rounded(self.plain_number())

    def degrees(self) -> float:
        """Return the float32 radians of a number of degrees."""
        return self._rounded(math.radians(self.plain_number()))

    def _rounded(self, number: float) -> float:
        value = f32(number)
        if not math.isfinite(value):
            self.fail("the number does not fit float32")
        return value


def field_names(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of a dataclass's fields: the keys of its JSON object."""
    return tuple(entry.name for entry in fields(kind))


def number_entry(value: float) -> float | str:
    """Return the shortest decimal that round-trips float32; "nan", "inf" as bit patterns, since JSON has none."""
    if not math.isfinite(value):
        return f"{int(np.float32(value).view(np.uint32)):08x}"
    return float(str(np.float32(value)))
