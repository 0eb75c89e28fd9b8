"""Windows of images, by plain loops: what kernels that slide over images are compared with."""

import itertools

import numpy as np

from everflow.framework.windows import slide


def windows(x, extent, strides, padding, dilations=(1, 1)):
    """(row, column, window with NaN outside of the image) of [N, H, W, C]."""
    fits = [slide(x.shape[1 + d], extent[d], strides[d], padding, dilations[d]) for d in (0, 1)]
    widths = [(0, 0)] + [(f.before, f.after + extent[d] * dilations[d]) for d, f in enumerate(fits)] + [(0, 0)]
    padded = np.pad(x, widths, constant_values=np.nan)
    for i, j in itertools.product(range(fits[0].output), range(fits[1].output)):
        a, b = i * strides[0], j * strides[1]
        yield (
            i,
            j,
            padded[:, a : a + extent[0] * dilations[0] : dilations[0], b : b + extent[1] * dilations[1] : dilations[1]],
        )


def collected(x, extent, strides, padding, reduce, dilations=(1, 1)):
    parts = {(i, j): reduce(w) for i, j, w in windows(x, extent, strides, padding, dilations)}
    rows, columns = (max(k[d] for k in parts) + 1 for d in (0, 1))
    return np.stack([np.stack([parts[i, j] for j in range(columns)], 1) for i in range(rows)], 1)


GRID = [
    (size, extent, strides, padding)
    for size, extent, strides, padding in itertools.product(
        [(5, 6), (7, 4)], [(1, 1), (2, 2), (3, 2), (3, 4)], [(1, 1), (2, 2), (3, 1)], ["SAME", "VALID"]
    )
]
