"""tf.contrib.data.LMDBDataset."""

from __future__ import annotations

from everflow.data.dataset import Dataset, made
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.type_specs import TensorSpec


class LMDBDataset(Dataset):
    """The keys and values of LMDB stores.

    >>> keys_and_values = tf.contrib.data.LMDBDataset("train_lmdb")
    """

    def __init__(self, filenames):
        spec = (TensorSpec([], dtypes.string), TensorSpec([], dtypes.string))
        stores = convert_to_tensor(filenames, dtypes.string, name="filenames")
        dataset = made(raw.LMDBDataset, spec, filenames=stores)
        self._begin(dataset._variant_tensor, dataset.element_spec)
