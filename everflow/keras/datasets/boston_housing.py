"""tf.keras.datasets.boston_housing: prices of houses, and thirteen facts about where they are."""

from __future__ import annotations

import numpy as np

from everflow.keras.datasets.arrays_in_files import load_npz
from everflow.keras.datasets.storage import fetched, shuffled


def load_data(path="boston_housing.npz", test_split=0.2, seed=113):
    """(training facts, prices), (test facts, prices), shuffled by a seed."""
    if not 0 <= test_split < 1:
        raise AssertionError(f"`test_split` is a fraction, not {test_split}")
    checksum = "f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5"
    data = load_npz(fetched(path, "boston_housing.npz", file_hash=checksum))
    np.random.seed(seed)
    x, y = shuffled(data["x"], data["y"])
    split = int(len(x) * (1 - test_split))
    return (np.array(x[:split]), np.array(y[:split])), (np.array(x[split:]), np.array(y[split:]))
