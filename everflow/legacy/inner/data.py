"""Names that programs take from inside TensorFlow's modules of datasets."""

from everflow.data import Dataset, FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from everflow.data.legacy import get_output_classes, get_output_shapes, get_output_types

# There is one kind of dataset here, with what both of TensorFlow's have.
DatasetV1 = DatasetV2 = Dataset
FixedLengthRecordDatasetV2 = FixedLengthRecordDataset
TextLineDatasetV2 = TextLineDataset
TFRecordDatasetV2 = TFRecordDataset
get_legacy_output_classes = get_output_classes
get_legacy_output_shapes = get_output_shapes
get_legacy_output_types = get_output_types
