# Made by `make stubs`.
from everflow.protos.graph_pb2 import GraphDef as _GraphDef
import everflow as _tf
from everflow._typing import Any, Iterator, Self, TensorLike

from everflow import FixedLenFeature as FixedLenFeature
from everflow import FixedLenSequenceFeature as FixedLenSequenceFeature
from everflow import PaddingFIFOQueue as PaddingFIFOQueue
from everflow import PriorityQueue as PriorityQueue
from everflow import QueueBase as QueueBase
from everflow import RandomShuffleQueue as RandomShuffleQueue
from everflow import SparseFeature as SparseFeature
class TFRecordCompressionType:
    GZIP: int
    NONE: int
    ZLIB: int

class TFRecordOptions:
    def __init__(self, compression_type: object | None = None, flush_mode: int | None = None, input_buffer_size: int | None = None, output_buffer_size: int | None = None, window_bits: int | None = None, compression_level: int | None = None, compression_method: int | None = None, mem_level: int | None = None, compression_strategy: int | None = None) -> None: ...
    compression_level: Any
    compression_method: Any
    compression_strategy: Any
    compression_type: Any
    compression_type_map: Any
    flush_mode: Any
    @classmethod
    def get_compression_type_string(cls, options: Any) -> Any: ...
    input_buffer_size: Any
    mem_level: Any
    output_buffer_size: Any
    window_bits: Any

class TFRecordWriter:
    _closed: Any
    _file: Any
    _out: Any
    def __init__(self, path: Any, options: Any = None) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exc: Any) -> None: ...
    def _check_open(self) -> None: ...
    def close(self) -> None: ...
    def flush(self) -> None: ...
    def write(self, record: Any) -> None: ...

from everflow import VarLenFeature as VarLenFeature
from everflow.image import decode_and_crop_jpeg as decode_and_crop_jpeg
from everflow import decode_base64 as decode_base64
from everflow.image import decode_bmp as decode_bmp
from everflow import decode_compressed as decode_compressed
from everflow import decode_csv as decode_csv
from everflow.image import decode_gif as decode_gif
from everflow.image import decode_image as decode_image
from everflow.image import decode_jpeg as decode_jpeg
from everflow import decode_json_example as decode_json_example
from everflow.image import decode_png as decode_png
def decode_proto(bytes: TensorLike, message_type: Any, field_names: Any, output_types: Any, descriptor_source: str | None = 'local://', message_format: str | None = 'binary', sanitize: bool = False, name: str | None = None) -> Any: ...
from everflow import decode_raw as decode_raw
from everflow import deserialize_many_sparse as deserialize_many_sparse
from everflow import encode_base64 as encode_base64
from everflow.image import encode_jpeg as encode_jpeg
def encode_proto(sizes: Any, values: Any, field_names: Any, message_type: Any, descriptor_source: str | None = 'local://', name: str | None = None) -> _tf.Tensor: ...
from everflow.image import extract_jpeg_shape as extract_jpeg_shape
from everflow.io import gfile as gfile
from everflow.image import is_jpeg as is_jpeg
def match_filenames_once(pattern: Any, name: str | None = None) -> _tf.Variable: ...
from everflow import matching_files as matching_files
from everflow import parse_example as parse_example
def parse_sequence_example(serialized: Any, context_features: Any = None, sequence_features: Any = None, example_names: Any = None, name: str | None = None) -> tuple[Any, Any, dict]: ...
from everflow import parse_single_example as parse_single_example
from everflow import parse_single_sequence_example as parse_single_sequence_example
from everflow import parse_tensor as parse_tensor
from everflow import read_file as read_file
from everflow import serialize_many_sparse as serialize_many_sparse
from everflow import serialize_sparse as serialize_sparse
from everflow import serialize_tensor as serialize_tensor
def tf_record_iterator(path: Any, options: Any = None) -> Iterator[Any]: ...
from everflow import write_file as write_file
def write_graph(graph_or_graph_def: _tf.Graph | _GraphDef, logdir: str, name: str, as_text: bool = True) -> str: ...
