"""`tensorflow.python.keras.engine.partial_batch_padding_handler`: short batches made as long as the others, and
what was predicted from the rows that were added taken away again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.framework import nest
from everflow.framework.operation import Tensor
from everflow.keras import backend as K
from everflow.ops import array


class PartialBatchPaddingHandler:
    """Pads batches to `padded_batch_size` rows; `padding_mask` is 1 for each row that was there, and 0 for others."""

    def __init__(self, output_shape: Any) -> None:
        self.padded_batch_size = 0
        self.padding_mask = array.zeros(0)
        self.output_shape = output_shape

    def get_real_batch_size(self, dataset_batch: Any) -> Any:
        """How many rows a batch has, an array or a structure of some."""
        return array.shape(nest.flatten(dataset_batch)[0])[0]

    def update_mask(self, padding_mask: Any, dataset_batch: Any) -> Tensor:
        """A mask for the rows before, and those of a batch."""
        rows = self.get_real_batch_size(dataset_batch)
        added = array.zeros(self.padded_batch_size - rows)
        return array.concat([padding_mask, array.ones(rows), added], axis=0)

    def pad_batch(self, *dataset_batch_elements: Any) -> Any:
        """A batch with rows of zeros after its own."""

        def padded(element: Tensor) -> Tensor:
            missing = self.padded_batch_size - array.shape(element)[0]
            assert element.shape.rank is not None
            return array.pad(element, [[0, missing], *([0, 0] for _ in range(element.shape.rank - 1))])

        batch = dataset_batch_elements if len(dataset_batch_elements) > 1 else dataset_batch_elements[0]
        return nest.map_structure(padded, batch)

    def apply_mask(self, prediction_result: Any) -> Any:
        """What was predicted, for the rows that were there."""
        mask = K.get_value(self.padding_mask) if isinstance(self.padding_mask, Tensor) else self.padding_mask
        kept = np.nonzero(mask)[0]
        if len(self.output_shape) == 1:
            return np.take(prediction_result, kept, axis=0)
        return [np.take(result, kept, axis=0) for result, _ in zip(prediction_result, self.output_shape)]
