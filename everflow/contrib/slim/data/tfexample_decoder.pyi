# Made by `make stubs`.
from everflow import image as _image
import everflow as _tf
from everflow._typing import Any, DTypeLike, ScalarLike, ShapeLike

class BackupHandler(ItemHandler):
    _backup: Any
    _handler: Any
    def __init__(self, handler: Any, backup: Any) -> None: ...
    _abc_impl: Any
    def tensors_to_item(self, keys_to_tensors: Any) -> Any: ...

class BoundingBox(ItemHandler):
    _full_keys: Any
    _prefix: Any
    def __init__(self, keys: Any = None, prefix: str | None = '') -> None: ...
    _abc_impl: Any
    def tensors_to_item(self, keys_to_tensors: Any) -> Any: ...

from everflow.contrib.slim.data.data_decoder import DataDecoder as DataDecoder
class Image(ItemHandler):
    _dtype: Any
    def __init__(self, image_key: Any = None, format_key: Any = None, shape: ShapeLike | None = None, channels: ScalarLike | None = 3, dtype: DTypeLike = ..., repeated: bool = False, dct_method: str | None = '') -> None: ...
    _abc_impl: Any
    def _decode(self, encoded: Any, image_format: Any) -> _tf.Tensor: ...
    def tensors_to_item(self, keys_to_tensors: Any) -> _tf.Tensor: ...

class ItemHandler:
    _keys: Any
    def __init__(self, keys: Any) -> None: ...
    _abc_impl: Any
    @property
    def keys(self) -> Any: ...
    def tensors_to_item(self, keys_to_tensors: Any) -> Any: ...

class ItemHandlerCallback(ItemHandler):
    _func: Any
    def __init__(self, keys: Any, func: Any) -> None: ...
    _abc_impl: Any
    def tensors_to_item(self, keys_to_tensors: Any) -> Any: ...

class LookupTensor(Tensor):
    _table: Any
    def __init__(self, tensor_key: Any, table: Any, shape_keys: Any = None, shape: ShapeLike | None = None, default_value: Any = '') -> None: ...
    _abc_impl: Any
    def tensors_to_item(self, keys_to_tensors: Any) -> Any: ...

class SparseTensor(ItemHandler):
    _indices_key: Any
    _values_key: Any
    def __init__(self, indices_key: Any = None, values_key: Any = None, shape_key: Any = None, shape: ShapeLike | None = None, densify: bool = False, default_value: Any = 0) -> None: ...
    _abc_impl: Any
    def tensors_to_item(self, keys_to_tensors: Any) -> _tf.Tensor: ...

class TFExampleDecoder(_tf.contrib.slim.data_decoder.DataDecoder):
    _items_to_handlers: Any
    _keys_to_features: Any
    def __init__(self, keys_to_features: Any, items_to_handlers: Any) -> None: ...
    _abc_impl: Any
    def decode(self, serialized_example: Any, items: Any = None) -> list[Any]: ...
    def list_items(self) -> list: ...

class Tensor(ItemHandler):
    def __init__(self, tensor_key: Any, shape_keys: Any = None, shape: ShapeLike | None = None, default_value: Any = 0) -> None: ...
    _abc_impl: Any
    def tensors_to_item(self, keys_to_tensors: Any) -> _tf.Tensor: ...

from everflow import case as case
from everflow import cond as cond
image_ops = _image
from everflow.contrib.distribute import keep as keep
from everflow import parse_single_example as parse_single_example
