"""Random numbers as expressions: what an op draws at one place of its stream, four numbers from each block.

The place is an input of three numbers: the key of the stream, and its counter in two halves.
"""

from __future__ import annotations

import math

import numpy as np

from everflow.native.values import Shape, Value, index, join, mapped

PLACE = (np.dtype(np.int64), (3,))
FLOAT = np.dtype(np.float32)


def drawn(kind: str, place: Value, shape: Shape) -> Value:
    """Single precision numbers, `uniform` in [0, 1) or `normal`."""
    count = math.prod(shape)
    blocks = -(-count // 4)
    parts = [place.slice([i], [1]).reshape([1, 1]).expand([blocks, 1]) for i in range(3)]
    number = index(blocks, place.dtype).reshape([blocks, 1])
    columns = [mapped(f"{kind}{i}", [*parts, number], FLOAT) for i in range(4)]
    return join(columns, 1).reshape([4 * blocks]).slice([0], [count]).reshape(shape)
