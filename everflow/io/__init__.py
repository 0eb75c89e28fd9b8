"""tf.io: reading, writing and parsing files and records."""

# The re-exports are the purpose of this file, in the families' order rather than the alphabet's.
# ruff: noqa: F401, I001

from everflow.io import gfile
from everflow.formats.graph_files import write_graph

# --- records
from everflow.io.records import TFRecordCompressionType, TFRecordOptions, TFRecordWriter, tf_record_iterator

# --- parsing
from everflow.ops.io.files import match_filenames_once, matching_files, read_file, write_file
from everflow.ops.io.parsing import (
    decode_compressed,
    decode_csv,
    decode_json_example,
    decode_proto,
    decode_raw,
    encode_proto,
    parse_tensor,
    serialize_tensor,
)
from everflow.ops.io.examples import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    VarLenFeature,
    parse_example,
    parse_sequence_example,
    parse_single_example,
    parse_single_sequence_example,
)
from everflow.ops.sparse.serialize import deserialize_many_sparse, serialize_many_sparse, serialize_sparse
from everflow.ops.strings.text import decode_base64, encode_base64

# --- images
from everflow.ops.image.codecs import (
    decode_and_crop_jpeg,
    decode_bmp,
    decode_gif,
    decode_image,
    decode_jpeg,
    decode_png,
    encode_jpeg,
    extract_jpeg_shape,
    is_jpeg,
)

# --- queues, which TensorFlow also has here
from everflow.ops.queues.queues import PaddingFIFOQueue, PriorityQueue, QueueBase, RandomShuffleQueue
