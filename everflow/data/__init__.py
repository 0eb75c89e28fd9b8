"""tf.data: input pipelines as objects; what a dataset does when it runs is in `kernels/data*.py`."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from everflow.data import experimental, flat_tensors
from everflow.data.dataset import Dataset, DatasetSpec
from everflow.data.files import FixedLengthRecordDatasetV1 as FixedLengthRecordDataset
from everflow.data.files import TextLineDatasetV1 as TextLineDataset
from everflow.data.files import TFRecordDatasetV1 as TFRecordDataset
from everflow.data.iterators import Iterator
from everflow.data.legacy import (
    get_output_classes,
    get_output_shapes,
    get_output_types,
    make_initializable_iterator,
    make_one_shot_iterator,
)
from everflow.data.options import Options
