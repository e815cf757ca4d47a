"""A reader of .glb files for tests, independent of maxik: struct, json, and plain TRS composition in binary64."""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float64s = NDArray[np.float64]


class Glb:
    """A .glb taken apart by struct and json, and its nodes composed by plain TRS in binary64 (column vectors)."""

    def __init__(self, data: bytes) -> None:
        magic, version, length = struct.unpack_from("<4sII", data)
        assert (magic, version, length) == (b"glTF", 2, len(data))
        json_length, kind = struct.unpack_from("<I4s", data, 12)
        assert kind == b"JSON"
        assert json_length % 4 == 0
        self.json: dict[str, Any] = json.loads(data[20 : 20 + json_length])
        self.binary = data[28 + json_length :]
        self.parents = {child: i for i, entry in enumerate(self.json["nodes"]) for child in entry.get("children", ())}

    def accessor(self, index: int) -> NDArray[Any]:
        entry = self.json["accessors"][index]
        view = self.json["bufferViews"][entry["bufferView"]]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}[entry["type"]]
        dtype = {5126: "<f4", 5123: "<u2"}[entry["componentType"]]
        assert view["byteOffset"] % 4 == 0
        assert view["byteOffset"] + view["byteLength"] <= self.json["buffers"][0]["byteLength"] == len(self.binary)
        values = np.frombuffer(self.binary, dtype, entry["count"] * width, view["byteOffset"]).reshape(-1, width)
        if "min" in entry:
            assert values.min(axis=0).tolist() == entry["min"]
            assert values.max(axis=0).tolist() == entry["max"]
        return values

    def animated(self, index: int, path: str, frame: int, neutral: list[float]) -> Float64s:
        for animation in self.json.get("animations", ()):
            for channel in animation["channels"]:
                if channel["target"] == {"node": index, "path": path}:
                    values = self.accessor(animation["samplers"][channel["sampler"]]["output"])
                    return np.array(values[frame], np.float64)
        return np.array(self.json["nodes"][index].get(path, neutral), np.float64)

    def interpolated(self, index: int, path: str, seconds: float, neutral: list[float]) -> Float64s:
        """Return a property at a time, as glTF 2.0 appendix C has it: linear, rotations by slerp the shorter way."""
        for animation in self.json.get("animations", ()):
            for channel in animation["channels"]:
                if channel["target"] == {"node": index, "path": path}:
                    sampler = animation["samplers"][channel["sampler"]]
                    times = self.accessor(sampler["input"])[:, 0].astype(np.float64)
                    values = self.accessor(sampler["output"]).astype(np.float64)
                    after = int(np.clip(np.searchsorted(times, seconds - 1e-6), 1, len(times) - 1))
                    a, b = values[after - 1], values[after]
                    t = float(np.clip((seconds - times[after - 1]) / (times[after] - times[after - 1]), 0.0, 1.0))
                    return slerp(a, b, t) if path == "rotation" else a + (b - a) * t
        return np.array(self.json["nodes"][index].get(path, neutral), np.float64)

    def world(self, index: int, frame: int, seconds: float | None = None) -> Float64s:
        """Return a node's matrix at a frame of sampled tracks, or at a time of any."""

        def value(node: int, path: str, neutral: list[float]) -> Float64s:
            if seconds is None:
                return self.animated(node, path, frame, neutral)
            return self.interpolated(node, path, seconds, neutral)

        matrix = np.eye(4)
        at: int | None = index
        while at is not None:
            x, y, z, w = value(at, "rotation", [0, 0, 0, 1])
            local = np.eye(4)
            rotation = np.array([
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ])  # fmt: skip
            local[:3, :3] = rotation * value(at, "scale", [1, 1, 1])
            local[:3, 3] = value(at, "translation", [0, 0, 0])
            matrix = local @ matrix
            at = self.parents.get(at)
        return matrix

    def named(self, name: str) -> list[int]:
        return [i for i, entry in enumerate(self.json["nodes"]) if entry.get("name") == name]


def slerp(a: Float64s, b: Float64s, t: float) -> Float64s:
    """Return the rotation at share `t` of the shorter way from a to b, by halving: no arc cosine near 1."""
    b = -b if a @ b < 0.0 else b
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = a + b
        middle /= np.linalg.norm(middle)
        if t < 0.5 * (low + high):
            b, high = middle, 0.5 * (low + high)
        else:
            a, low = middle, 0.5 * (low + high)
    return a
