"""A baked scene as a Parquet table: the columns of the CSV table with real types, float32 bits intact.

One row a frame and node, frames in order. Positions and rotations are local (parent space, scene units, radians;
quaternion x, y, z, w of the usual convention), `world_*` in world space. Euler columns are null where a rotation is
no Euler rotation. The certificate stands in the file's metadata, key `maxik-certificate`, as JSON text. Needs pyarrow,
the extra `parquet`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxik.errors import UsageError
from maxik.formats.quaternions import from_row_matrices
from maxik.formats.writers import WriteOptions
from maxik.scene.motion import BakedScene
from maxik.scene.scene import TICKS_PER_SECOND

CERTIFICATE_KEY = "maxik-certificate"


def render_parquet(baked: BakedScene, certificate: Mapping[str, Any], _options: WriteOptions | None = None) -> bytes:
    """Return the Parquet file; UsageError where pyarrow is not installed."""
    pa, pq = _pyarrow()
    frames, nodes = len(baked.ticks), baked.scene.nodes
    count = len(nodes)
    ticks = baked.ticks.astype(np.int64)
    columns: dict[str, Any] = {
        "frame": np.repeat(np.arange(frames, dtype=np.int32), count),
        "tick": np.repeat(ticks, count),
        "time_s": np.repeat((ticks - ticks[0]) / TICKS_PER_SECOND, count),
        "node": np.tile(np.arange(count, dtype=np.int32), frames),
        "name": _dictionary(pa, [node.name for node in nodes], frames),
    }
    motions = baked.nodes
    groups = (
        (("x", "y", "z"), [motion.position for motion in motions]),
        (("qx", "qy", "qz", "qw"), [from_row_matrices(motion.rotation).astype(np.float32) for motion in motions]),
        (("euler_x", "euler_y", "euler_z"), [motion.euler for motion in motions]),
        (("scale_x", "scale_y", "scale_z"), [motion.scale for motion in motions]),
        (("world_x", "world_y", "world_z"), [motion.world_tm[:, 3] for motion in motions]),
    )
    for names, arrays in groups:
        missing = np.tile([array is None for array in arrays], frames)
        nothing = np.zeros((1, len(names)), np.float32)
        filled = [nothing if array is None else array for array in arrays]
        values = np.stack([np.broadcast_to(array, (frames, len(names))) for array in filled], axis=1).reshape(-1, len(names))
        for place, name in enumerate(names):
            columns[name] = pa.array(np.ascontiguousarray(values[:, place]), mask=missing if missing.any() else None)
    columns["solved_by"] = _dictionary(pa, [";".join(motion.solved_by) for motion in motions], frames)
    table = pa.table(columns).replace_schema_metadata({CERTIFICATE_KEY: json.dumps(certificate, ensure_ascii=False)})
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _dictionary(pa: ModuleType, texts: list[str], frames: int) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return a dictionary-encoded column: one text a node, for every frame."""
    distinct = list(dict.fromkeys(texts))
    codes: NDArray[np.int32] = np.tile(np.array([distinct.index(text) for text in texts], np.int32), frames)
    return pa.DictionaryArray.from_arrays(codes, pa.array(distinct, pa.string()))


def _pyarrow() -> tuple[ModuleType, ModuleType]:
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        import pyarrow.parquet as pq  # noqa: PLC0415 - the same
    except ImportError as error:
        message = "a .parquet file needs pyarrow, which is not installed"
        raise UsageError(message, hint="pip install 'maxik[parquet]'") from error
    return pa, pq
