"""1,797 handwritten digits of 8 by 8 pixels with 17 grey levels, part of the package.

From "Optical Recognition of Handwritten Digits" by E. Alpaydin and C. Kaynak, UCI Machine Learning Repository
(https://doi.org/10.24432/C50P49, CC BY 4.0), as scikit-learn ships it.
"""

from __future__ import annotations

import pathlib

import numpy as np

LEVELS = 16
_TEST_SIZE = 360


def load_digits() -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """(training images, labels), (test images, labels): images uint8 [n, 8, 8] from 0 to 16, labels uint8 [n]; always
    the same split.
    """
    with np.load(pathlib.Path(__file__).with_name("digits.npz"), allow_pickle=False) as data:
        images, labels = data["images"], data["labels"]
    order = np.random.RandomState(0).permutation(len(images))
    train, test = order[:-_TEST_SIZE], order[-_TEST_SIZE:]
    return (images[train], labels[train]), (images[test], labels[test])
