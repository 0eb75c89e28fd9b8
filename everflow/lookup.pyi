# Made by `make stubs`.
import everflow as _tf
from everflow._typing import Any, DTypeLike

class KeyValueTensorInitializer(_tf.contrib.lookup.TableInitializerBase):
    _keys: Any
    _name: Any
    _values: Any
    def __init__(self, keys: Any, values: Any, key_dtype: DTypeLike | None = None, value_dtype: DTypeLike | None = None, name: str | None = None) -> None: ...
    def initialize(self, table: Any) -> _tf.Operation: ...

class StaticHashTable(_tf.contrib.lookup.InitializableLookupTableBase):
    _given_name: Any
    _shared_name: Any
    _value_shape: Any
    def __init__(self, initializer: Any, default_value: Any, name: str | None = None) -> None: ...
    def _create_resource(self) -> _tf.Tensor: ...
    def export(self, name: str | None = None) -> tuple[Any, Any]: ...

class StaticVocabularyTable(_tf.contrib.lookup.IdTableWithHashBuckets):
    def __init__(self, initializer: Any, num_oov_buckets: Any, lookup_key_dtype: DTypeLike | None = None, name: str | None = None) -> None: ...
    @property
    def name(self) -> Any: ...

class TextFileIndex:
    LINE_NUMBER: int
    WHOLE_LINE: int

class TextFileInitializer(_tf.contrib.lookup.TableInitializerBase):
    _delimiter: Any
    _filename: Any
    _filename_arg: Any
    _key_index: Any
    _name: Any
    _value_index: Any
    _vocab_size: Any
    def __init__(self, filename: Any, key_dtype: DTypeLike, key_index: Any, value_dtype: DTypeLike, value_index: Any, vocab_size: Any = None, delimiter: str | None = '\t', name: str | None = None) -> None: ...
    @property
    def _shared_name(self) -> str: ...
    def initialize(self, table: Any) -> _tf.Operation: ...

experimental: Any
