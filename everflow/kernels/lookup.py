"""Lookup tables at run time: static ones that are filled once, mutable ones, and open-addressed dense ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import torch

from everflow.formats.murmur import murmur64
from everflow.framework import dtypes
from everflow.framework.errors import AbortedError, FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from everflow.framework.forking import renewed
from everflow.kernels import lookup_index
from everflow.kernels.old_handles import OldHandle
from everflow.kernels.registry import acting, kernel, reading, specialize
from everflow.kernels.strings.numbers import number_parser
from everflow.kernels.strings.text import scalar_string, strings
from everflow.kernels.tensors import AnyTensor, Strings, torch_dtype
from everflow.platform import file_io

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.framework.shapes import TensorShape
    from everflow.kernels.context import Node, Session

WHOLE_LINE, LINE_NUMBER = -2, -1


def _listed(tensor: AnyTensor) -> list:
    """All elements of a tensor as Python values."""
    return list(tensor.flat) if isinstance(tensor, np.ndarray) else tensor.reshape(-1).tolist()


def _boxed(values: Any) -> AnyTensor:
    """Values as an array, also where they are one handle (a tensor list), which has no shape of its own."""
    return values if isinstance(values, (torch.Tensor, np.ndarray)) else _objects([values], ())


def _objects(values: list, shape: Sequence[int]) -> np.ndarray:
    made = np.empty(len(values), dtype=object)
    for number, value in enumerate(values):  # a tensor list would be taken for a row of elements
        made[number] = value
    return made.reshape(tuple(shape))


def _rows(tensor: AnyTensor, keys_rank: int) -> list:
    """The value of each key: an element, or a tuple of elements where values are vectors."""
    flat = _listed(tensor)
    width = int(np.prod(tensor.shape[keys_rank:], dtype=np.int64))
    if tensor.ndim == keys_rank:
        return flat
    return [tuple(flat[i : i + width]) for i in range(0, len(flat), width)] if width else []


def _tensor(values: list, dtype: DType, shape: Sequence[int]) -> AnyTensor:
    if values and isinstance(values[0], tuple):
        values = [v for row in values for v in row]
    if dtype is dtypes.string:
        return strings(values, shape)
    if dtype is dtypes.variant:
        return _objects(values, shape) if shape else values[0]
    return torch.tensor(values, dtype=torch_dtype(dtype)).reshape(tuple(shape))


def _shape_text(shape: Sequence[int]) -> str:
    return "[" + ",".join(str(int(d)) for d in shape) + "]"


def _shown(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


_Key: TypeAlias = Any  # bytes or a number
_T = TypeVar("_T", bound="Table")


class Table(OldHandle):
    """Keys and values of two dtypes; values have a shape of their own, in some tables keys, too."""

    key_shape: tuple[int, ...] = ()

    def __init__(self, key_dtype: DType, value_dtype: DType, value_shape: Sequence[int] = ()) -> None:
        self.key_dtype, self.value_dtype, self.value_shape = key_dtype, value_dtype, tuple(value_shape)
        self.entries: dict = {}
        self.lock = renewed(threading.Lock())

    def __len__(self) -> int:
        return len(self.entries)

    def keys_in(self, tensor: AnyTensor) -> list:
        """The keys in a tensor: elements, or tuples of them where keys are vectors."""
        return _rows(tensor, self.keys_rank(tensor)) if self.key_shape else _listed(tensor)

    def keys_rank(self, keys: AnyTensor) -> int:
        """How many dimensions of a tensor of keys count keys."""
        return keys.ndim - len(self.key_shape)

    def find(self, keys: AnyTensor, default: AnyTensor) -> AnyTensor:
        get, missing = self.entries.get, _rows(default, default.ndim - len(self.value_shape))[0]
        found = [get(k, missing) for k in self.keys_in(keys)]
        return _tensor(found, self.value_dtype, (*keys.shape[: self.keys_rank(keys)], *self.value_shape))

    def check_shape_of(self, keys: AnyTensor) -> int:
        """The number of axes that keys have before their own, which must be those of a key here."""
        rank = self.keys_rank(keys)
        if tuple(keys.shape[rank:]) != self.key_shape:
            raise InvalidArgumentError(
                None, None, f"Expected key shape {_shape_text(self.key_shape)}, got {_shape_text(keys.shape[rank:])}"
            )
        return rank

    def check(self, keys: AnyTensor, values: AnyTensor) -> None:
        rank = self.check_shape_of(keys)
        expected = (*keys.shape[:rank], *self.value_shape)
        if tuple(values.shape) != expected:
            raise InvalidArgumentError(
                None, None, f"Expected shape {_shape_text(expected)} for value, got {_shape_text(values.shape)}"
            )

    def insert(self, keys: AnyTensor, values: AnyTensor) -> None:
        self.check(keys, values)
        with self.lock:
            self.entries.update(zip(self.keys_in(keys), _rows(values, self.keys_rank(keys))))

    def load(self, keys: AnyTensor, values: AnyTensor) -> None:
        """Hold these entries and no others."""
        self.check(keys, values)
        with self.lock:
            self.entries = dict(zip(self.keys_in(keys), _rows(values, self.keys_rank(keys))))

    def remove(self, keys: AnyTensor) -> None:
        with self.lock:
            for key in self.keys_in(keys):
                self.entries.pop(key, None)

    def export(self) -> tuple[AnyTensor, AnyTensor]:
        with self.lock:
            keys, values = list(self.entries), list(self.entries.values())
        return _tensor(keys, self.key_dtype, (len(keys),)), _tensor(
            values, self.value_dtype, (len(values), *self.value_shape)
        )


class StaticTable(Table):
    """A table that is filled once; until then it can't be asked."""

    def __init__(self, key_dtype: DType, value_dtype: DType) -> None:
        super().__init__(key_dtype, value_dtype)
        self.initialized = False
        self._index: lookup_index.Index | None = None

    def find(self, keys: AnyTensor, default: AnyTensor) -> AnyTensor:
        if not self.initialized:
            raise FailedPreconditionError(None, None, "Table not initialized.")
        index = self._index or self._make_index(keys)
        found = index.find(keys, default) if index is not None and default.ndim == 0 else None
        return super().find(keys, default) if found is None else found

    def _make_index(self, keys: AnyTensor) -> lookup_index.Index | None:
        """The entries laid out for compiled loops, once there are such and nothing changes any more."""
        size = keys.size if isinstance(keys, np.ndarray) else keys.numel()
        code = lookup_index.TABLES.ready(size)
        if code is None or not self.entries or not lookup_index.is_possible(self.key_dtype, self.value_dtype):
            return None
        with self.lock:
            index = lookup_index.Index(code, self.entries, self.key_dtype, self.value_dtype)
        self._index = index if index.is_whole else None
        return self._index

    def fill(self, make_pairs: Callable) -> None:
        """Take the pairs of `make_pairs()`, unless it was filled before."""
        with self.lock:
            if self.initialized:
                return
            entries = {}
            for key, value in make_pairs():
                held = entries.setdefault(key, value)
                if held != value:
                    raise FailedPreconditionError(
                        None,
                        None,
                        f"HashTable has different value for same key. Key {_shown(key)} has {_shown(held)} "
                        f"and trying to add value {_shown(value)}",
                    )
            self.entries, self.initialized = entries, True

    def load(self, keys: AnyTensor, values: AnyTensor) -> None:
        self.check(keys, values)
        if not len(keys.reshape(-1)):
            raise InvalidArgumentError(None, None, "keys and values cannot be empty tensors: a table needs an entry")
        self.fill(lambda: zip(self.keys_in(keys), _rows(values, self.keys_rank(keys))))

    def insert(self, keys: AnyTensor, values: AnyTensor) -> None:
        raise InvalidArgumentError(None, None, "A static table can't be changed")

    def remove(self, keys: AnyTensor) -> None:
        raise InvalidArgumentError(None, None, "A static table can't be changed")

    def export(self) -> tuple[AnyTensor, AnyTensor]:
        if not self.initialized:
            raise AbortedError(None, None, "HashTable is not initialized.")
        return super().export()


def _hash(key: _Key) -> int:
    """Where TensorFlow begins to look for a key; the numbers of a vector are mixed one after the other."""
    if not isinstance(key, tuple):
        return murmur64(key) if isinstance(key, bytes) else key
    mixed = 0
    for part in map(_hash, key):
        mixed ^= (part + 0x9E3779B97F4A7800 + (mixed << 10) + (mixed >> 4)) & 0xFFFFFFFFFFFFFFFF
    return mixed


class DenseTable(Table):
    """Open addressing with two keys set aside; what it exports are its buckets, empty ones included."""

    def __init__(
        self,
        key_dtype: DType,
        value_dtype: DType,
        value_shape: Sequence[int],
        empty_key: _Key,
        deleted_key: Any,  # a key; None where none is set aside
        buckets: int,
        max_load_factor: float,
        key_shape: tuple[int, ...] = (),
    ) -> None:
        super().__init__(key_dtype, value_dtype, value_shape)
        if buckets < 4 or buckets & (buckets - 1):
            raise InvalidArgumentError(
                None, None, f"Number of buckets must be at least 4 and a power of 2, got: {buckets}"
            )
        if isinstance(empty_key, tuple) != isinstance(deleted_key, tuple) and deleted_key is not None:
            raise InvalidArgumentError(None, None, "Empty and deleted keys must have the same shape")
        if empty_key == deleted_key:
            raise InvalidArgumentError(None, None, "Empty and deleted keys cannot be equal")
        self.key_shape = key_shape
        self.empty_key, self.deleted_key, self.load_factor = empty_key, deleted_key, max_load_factor
        self.slots: list[_Key] = [empty_key] * buckets
        self.kept: list[Any] = [None] * buckets  # values, those of deleted keys too

    def _check_keys(self, keys: Collection[_Key]) -> None:
        for what, key in (("empty_key", self.empty_key), ("deleted_key", self.deleted_key)):
            if key in keys:
                raise InvalidArgumentError(None, None, f"Using the {what} as a table key is not allowed")

    def _places(self, key: _Key) -> Iterator[int]:
        """The buckets to look at for a key, one after the other."""
        mask = len(self.slots) - 1
        at = _hash(key) & mask
        for step in range(1, len(self.slots) + 1):
            yield at
            at = (at + step) & mask

    def _lay_out(self, count: int) -> None:
        """Put all entries into buckets anew, enough of them for `count`."""
        buckets = len(self.slots)
        while count > buckets * self.load_factor:
            buckets *= 2
        self.slots, self.kept = [self.empty_key] * buckets, [None] * buckets
        for key, value in self.entries.items():
            self._put(key, value)

    def _put(self, key: _Key, value: Any) -> None:
        for at in self._places(key):
            if self.slots[at] in (key, self.empty_key):
                self.slots[at], self.kept[at] = key, value
                return

    def check_shape_of(self, keys: AnyTensor) -> int:
        # The first axis counts keys, whatever comes after it is a key.
        if keys.ndim and tuple(keys.shape[1:]) != self.key_shape:
            raise InvalidArgumentError(
                None,
                None,
                f"Expected key shape {_shape_text((len(keys), *self.key_shape))}, got {_shape_text(keys.shape)}",
            )
        return super().check_shape_of(keys)

    def find(self, keys: AnyTensor, default: AnyTensor) -> AnyTensor:
        self.check_shape_of(keys)
        self._check_keys(self.keys_in(keys))
        return super().find(keys, default)

    def insert(self, keys: AnyTensor, values: AnyTensor) -> None:
        self.check(keys, values)
        new = dict(zip(self.keys_in(keys), _rows(values, self.keys_rank(keys))))
        self._check_keys(new)
        with self.lock:
            needed = len(self.entries) + keys.shape[0] if keys.ndim else len(self.entries) + 1
            if needed > len(self.slots) * self.load_factor:
                self._lay_out(needed)
            self.entries.update(new)
            for key, value in new.items():
                self._put(key, value)

    def load(self, keys: AnyTensor, values: AnyTensor) -> None:
        width = len(self.value_shape) or 1
        keys = keys.reshape(-1, *self.key_shape)
        values = (
            values.reshape(len(keys), *values.shape[values.ndim - width :]) if self.value_shape else values.reshape(-1)
        )
        pairs = list(zip(self.keys_in(keys), _rows(values, 1)))
        with self.lock:
            self.entries = {k: v for k, v in pairs if k not in (self.empty_key, self.deleted_key)}
            # What was exported were buckets: they are taken as they are.
            self.slots = [key for key, _ in pairs]
            self.kept = [None if key == self.empty_key else value for key, value in pairs]

    def remove(self, keys: AnyTensor) -> None:
        names = self.keys_in(keys)
        self._check_keys(names)
        with self.lock:
            for key in names:
                if self.entries.pop(key, None) is not None:
                    self.slots[self.slots.index(key)] = self.deleted_key

    def export(self) -> tuple[AnyTensor, AnyTensor]:
        blank = b"" if self.value_dtype is dtypes.string else 0
        width = int(np.prod(self.value_shape, dtype=np.int64))
        with self.lock:
            keys = list(self.slots)
            values = [(blank,) * width if v is None else v if isinstance(v, tuple) else (v,) for v in self.kept]
        shape = self.value_shape or (1,)
        key_shape = self.key_shape or (1,)
        return _tensor(keys, self.key_dtype, (len(keys), *key_shape)), _tensor(
            values, self.value_dtype, (len(keys), *shape)
        )


# --- handles ----------------------------------------------------------------------------------


def _table(
    node: Node,
    session: Session,
    container: str,
    shared_name: str,
    use_node_name_sharing: bool,
    factory: Callable[[], _T],
) -> _T:
    name = shared_name or node.name

    def make() -> _T:
        table = factory()
        table.name = name
        return table

    if not shared_name and not use_node_name_sharing:
        return session.own("table", node.name, make)
    table = session.resources.lookup_or_create(container, "table", name, make)
    attrs = node.attrs
    if table.key_dtype != attrs["key_dtype"] or table.value_dtype != attrs["value_dtype"]:
        raise InvalidArgumentError(
            None,
            None,
            f"Conflicting key/value dtypes {attrs['key_dtype'].name}->{attrs['value_dtype'].name} "
            f"with {table.key_dtype.name}-{table.value_dtype.name} for table {name}",
        )
    return table


# What TensorFlow's tables map, kind by kind: values' types by the keys' type.
_COMMON = {
    "int32": "float32 float64 int32",
    "int64": "float32 float64 int32 int64",
    "string": "bool float32 float64 int32 int64",
}
_MAPPED = {
    "HashTable": {key: f"{values} string" for key, values in _COMMON.items()},
    "MutableHashTable": {**_COMMON, "int64": _COMMON["int64"] + " string variant"},
    "MutableHashTableOfTensors": {**_COMMON, "int64": _COMMON["int64"] + " string"},
    "MutableDenseHashTable": {**_COMMON, "int64": _COMMON["int64"] + " bool variant"},
}


@specialize(*_MAPPED, *(f"{kind}V2" for kind in _MAPPED))
def _refuse_types(node: Node) -> None:
    """Raise for a table of types that TensorFlow has none for."""
    key, value = node.attrs["key_dtype"].name, node.attrs["value_dtype"].name
    if value not in _MAPPED[node.type.removesuffix("V2")].get(key, "").split():
        raise InvalidArgumentError(None, None, f"No {node.type} maps {key} to {value}")


@kernel("HashTable", "HashTableV2", once=True)
def hash_table(
    *,
    container: str,
    shared_name: str,
    use_node_name_sharing: bool,
    key_dtype: DType,
    value_dtype: DType,
    node: Node,
    session: Session,
) -> StaticTable:
    return _table(
        node, session, container, shared_name, use_node_name_sharing, lambda: StaticTable(key_dtype, value_dtype)
    )


@kernel("MutableHashTable", "MutableHashTableV2", once=True)
def mutable_hash_table(
    *,
    container: str,
    shared_name: str,
    use_node_name_sharing: bool,
    key_dtype: DType,
    value_dtype: DType,
    node: Node,
    session: Session,
) -> Table:
    return _table(node, session, container, shared_name, use_node_name_sharing, lambda: Table(key_dtype, value_dtype))


@kernel("MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", once=True)
def mutable_hash_table_of_tensors(
    *,
    container: str,
    shared_name: str,
    use_node_name_sharing: bool,
    key_dtype: DType,
    value_dtype: DType,
    value_shape: TensorShape,
    node: Node,
    session: Session,
) -> Table:
    shape: list[Any] = value_shape.as_list()
    if len(shape) > 1:
        raise InvalidArgumentError(None, None, f"Values of a table are vectors here, not of shape {shape}")
    return _table(
        node, session, container, shared_name, use_node_name_sharing, lambda: Table(key_dtype, value_dtype, shape)
    )


def _dense_table(
    empty_key: torch.Tensor,
    deleted_key: torch.Tensor | None,
    container: str,
    shared_name: str,
    use_node_name_sharing: bool,
    node: Node,
    session: Session,
) -> DenseTable:
    attribute = node.attribute

    def make() -> DenseTable:
        return DenseTable(
            attribute("key_dtype"),
            attribute("value_dtype"),
            attribute("value_shape").as_list(),
            _rows(empty_key, 0)[0],
            None if deleted_key is None else _rows(deleted_key, 0)[0],
            attribute("initial_num_buckets"),
            attribute("max_load_factor"),
            tuple(empty_key.shape),
        )

    return _table(node, session, container, shared_name, use_node_name_sharing, make)


@kernel("MutableDenseHashTable")
def mutable_dense_hash_table(
    empty_key: torch.Tensor,
    *,
    container: str,
    shared_name: str,
    use_node_name_sharing: bool,
    node: Node,
    session: Session,
) -> DenseTable:
    return _dense_table(empty_key, None, container, shared_name, use_node_name_sharing, node, session)


@kernel("MutableDenseHashTableV2")
def mutable_dense_hash_table_v2(
    empty_key: torch.Tensor,
    deleted_key: torch.Tensor,
    *,
    container: str,
    shared_name: str,
    use_node_name_sharing: bool,
    node: Node,
    session: Session,
) -> DenseTable:
    return _dense_table(empty_key, deleted_key, container, shared_name, use_node_name_sharing, node, session)


# --- what is done with tables -----------------------------------------------------------------


@reading("LookupTableFind", "LookupTableFindV2")
def find(table_handle: Table, keys: AnyTensor, default_value: AnyTensor) -> AnyTensor:
    if tuple(default_value.shape) != table_handle.value_shape:
        raise InvalidArgumentError(
            None,
            None,
            f"Expected shape {_shape_text(table_handle.value_shape)} for default value, got {_shape_text(default_value.shape)}",
        )
    return table_handle.find(keys, _boxed(default_value))


@acting("LookupTableInsert", "LookupTableInsertV2")
def insert(table_handle: Table, keys: AnyTensor, values: AnyTensor) -> None:
    table_handle.insert(keys, _boxed(values))


@acting("LookupTableRemoveV2")
def remove(table_handle: Table, keys: AnyTensor) -> None:
    table_handle.remove(keys)


@reading("LookupTableSize", "LookupTableSizeV2")
def size(table_handle: Table) -> torch.Tensor:
    return torch.tensor(len(table_handle))


@reading("LookupTableExport", "LookupTableExportV2")
def export(table_handle: Table) -> tuple[AnyTensor, AnyTensor]:
    return table_handle.export()


@acting("LookupTableImport", "LookupTableImportV2", "InitializeTable", "InitializeTableV2")
def import_values(table_handle: Table, keys: AnyTensor, values: AnyTensor) -> None:
    table_handle.load(keys, values)


def _field(line: bytes, index: int, number: int, dtype: DType, delimiter: bytes, filename: str, is_key: bool) -> Any:
    """What one line holds for a key or a value."""
    if index == LINE_NUMBER:
        return number
    if index == WHOLE_LINE:
        text = line
        if not text and is_key:
            raise InvalidArgumentError(None, None, f"Line {number} of {filename} is empty: it can't be a key")
    else:
        parts = line.split(delimiter)
        if index >= len(parts):
            raise InvalidArgumentError(
                None,
                None,
                f"Invalid number of columns in {filename} line {number} ({_shown(line)}) : expected {index} got {len(parts)}",
            )
        text = parts[index]
    if dtype is dtypes.string:
        return text
    value = number_parser(dtype)(text)
    if value is None:
        raise InvalidArgumentError(None, None, f"Field {_shown(text)} in line {number} is not a valid {dtype.name}.")
    return value


@acting("InitializeTableFromTextFile", "InitializeTableFromTextFileV2")
def initialize_from_text_file(
    table_handle: StaticTable, filename: Strings, *, key_index: int, value_index: int, vocab_size: int, delimiter: str
) -> None:
    name = scalar_string(filename, "filename").decode()
    separator = delimiter.encode()
    if len(separator) != 1:
        raise InvalidArgumentError(None, None, f"delimiter must be one character, not {delimiter!r}")

    def pairs() -> Iterator[tuple[_Key, Any]]:
        with file_io.FileIO(name, "rb") as file:
            data = file.read()
        if not data:
            raise OutOfRangeError(None, None, "Read less bytes than requested")
        lines = data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        lines = [line.rstrip(b"\r") for line in lines]
        if vocab_size >= 0:
            if len(lines) < vocab_size:
                raise InvalidArgumentError(
                    None, None, f"Invalid vocab_size in {name}: expected {vocab_size} but got {len(lines)}"
                )
            lines = lines[:vocab_size]
        for number, line in enumerate(lines):
            key = _field(line, key_index, number, table_handle.key_dtype, separator, name, True)
            yield key, _field(line, value_index, number, table_handle.value_dtype, separator, name, False)

    table_handle.fill(pairs)
