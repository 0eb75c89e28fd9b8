"""Kernels that parse serialized Example and SequenceExample records into dense and sparse tensors."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch
from google.protobuf.message import DecodeError

from everflow.framework import dtypes
from everflow.framework.errors import InvalidArgumentError
from everflow.kernels.io import compiled_examples, lazy_features
from everflow.kernels.io.compiled_examples import Dense, Features, Sparse, columns
from everflow.kernels.registry import fresh, specialize
from everflow.kernels.strings.text import row_positions, strings
from everflow.kernels.tensors import AnyTensor, SparseParts, Strings
from everflow.protos import example_pb2

if TYPE_CHECKING:
    from everflow.framework.dtypes import DType
    from everflow.framework.shapes import TensorShape
    from everflow.kernels.context import Node
    from everflow.protos.feature_pb2 import Feature, FeatureList

_KINDS = {dtypes.int64: "int64_list", dtypes.float32: "float_list", dtypes.string: "bytes_list"}
# How messages call the types.
_NAMES = {"int64_list": "int64", "float_list": "float", "bytes_list": "string"}
_EMPTY = {dtypes.int64: 0, dtypes.float32: 0.0, dtypes.string: b""}

_Parsed: TypeAlias = tuple[Sequence[AnyTensor], ...]  # the outputs of an op: each is a list


def _error(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(None, None, text)


def _tensor(values: Sequence[Any], dtype: DType, shape: Sequence[int]) -> AnyTensor:
    if dtype is dtypes.string:
        return strings(values, shape)
    return torch.from_numpy(_numbers(values, dtype.as_numpy_dtype).reshape(shape))


def _numbers(values: Sequence[float], kind: type) -> np.ndarray:
    """The numbers of a repeated field; one by one is quicker where they are few."""
    return np.fromiter(values, kind, len(values)) if len(values) < 24 else np.array(values, kind)


def _flat(default: AnyTensor) -> list:
    return list(default.flat) if isinstance(default, np.ndarray) else default.reshape(-1).tolist()


def _shape_text(sizes: Sequence[int | None]) -> str:
    return "[" + ",".join("?" if s is None or s < 0 else str(s) for s in sizes) + "]"


def _sizes(shape: TensorShape) -> list[int]:
    return [-1 if size is None else size for size in shape.as_list()]


def _sparse_batch(rows: list[list], dtype: DType) -> SparseParts:
    """(indices, values, shape) of one list of values per example."""
    values = [v for row in rows for v in row]
    return (
        torch.from_numpy(row_positions([len(row) for row in rows])),
        _tensor(values, dtype, (len(values),)),
        torch.tensor([len(rows), max(map(len, rows), default=0)]),
    )


def _sparse_values(feature: Feature | None, dtype: DType, complain: Callable[[str], str]) -> list:
    """A feature's values for a sparse output; None stands for a missing feature."""
    kind = feature.WhichOneof("kind") if feature is not None else None
    if kind is None:
        return []
    if kind != _KINDS[dtype]:
        raise _error(
            complain(f"Data types don't match. Expected type: {_NAMES[_KINDS[dtype]]}, Actual type: {_NAMES[kind]}")
        )
    return list(getattr(feature, kind).value)


def _feature(features: Mapping[str, Feature], key: str) -> Feature | None:
    return features[key] if key in features else None


def _dense_batch(
    examples: Sequence[Mapping[str, Feature]],
    names: list[bytes] | None,
    key: str,
    dtype: DType,
    shape: TensorShape,
    default: AnyTensor,
    describe: Callable[..., str],
) -> AnyTensor:
    """One dense output for a batch; where the first size is open, rows are padded to the longest."""
    sizes = _sizes(shape)
    if sizes and sizes[0] < 0:
        return _padded_batch(examples, names, key, dtype, sizes, default, describe)
    kind, count = _KINDS[dtype], math.prod(sizes)
    rows = []
    for index, features in enumerate(examples):
        feature = _feature(features, key)
        found = feature.WhichOneof("kind") if feature is not None else None
        if found == kind:
            values = getattr(feature, kind).value
            if len(values) != count:
                text = f"Number of {_NAMES[kind]} values != expected.  Values size: {len(values)} but output shape: {_shape_text(sizes)}"
                raise _error(describe(key, index, names, text))
        elif found is None:
            values = _flat(default)
            if len(values) != count:
                raise _error(_required(key, dtype, index, names))
        else:
            raise _error(describe(key, index, names, _other_kind(found, kind)))
        rows.append(values)
    if count >= 24 and dtype is not dtypes.string:
        out = np.empty((len(rows), count), dtype.as_numpy_dtype)
        for place, values in zip(out, rows):
            place[:] = np.array(values, out.dtype)
        return torch.from_numpy(out.reshape([len(rows), *sizes]))
    return _tensor([v for values in rows for v in values], dtype, [len(rows), *sizes])


def _padded_batch(
    examples: Sequence[Mapping[str, Feature]],
    names: list[bytes] | None,
    key: str,
    dtype: DType,
    sizes: list[int],
    default: AnyTensor,
    describe: Callable[..., str],
) -> AnyTensor:
    """A dense output whose rows are as long as the longest; others are filled up with the default."""
    kind, stride = _KINDS[dtype], math.prod(sizes[1:])
    rows = []
    for index, features in enumerate(examples):
        feature = _feature(features, key)
        found = feature.WhichOneof("kind") if feature is not None else None
        if found not in (kind, None):
            raise _error(describe(key, index, names, _other_kind(found, kind)))
        values = list(getattr(feature, kind).value) if found else []
        if stride and len(values) % stride:
            text = (
                f"Number of {_NAMES[kind]} values is not a multiple of stride length. "
                f"Saw {len(values)} values but output shape is: {_shape_text(sizes)}"
            )
            raise _error(describe(key, index, names, text))
        rows.append(values)
    longest = max(map(len, rows), default=0)
    filler = _flat(default)
    pad = filler[0] if filler else _EMPTY[dtype]
    flat = [v for row in rows for v in row + [pad] * (longest - len(row))]
    return _tensor(flat, dtype, [len(rows), longest // stride if stride else 0, *sizes[1:]])


def _other_kind(found: str, wanted: str) -> str:
    return f"Data types don't match. Data type: {_NAMES[found]} but expected type: {_NAMES[wanted]}"


def _name(names: list[bytes], index: int) -> str:
    return names[index].decode("utf-8", "replace") if index < len(names) else "<unknown>"


def _required(key: str, dtype: DType, index: int, names: list[bytes] | None) -> str:
    kind = _NAMES[_KINDS[dtype]]
    prefix = "" if names is None else f"Name: {_name(names, index)}, "
    return f"{prefix}Feature: {key} (data type: {kind}) is required but could not be found."


def _describe_batch(key: str, index: int, names: list[bytes], text: str) -> str:
    return f"Name: {_name(names, index)}, Key: {key}, Index: {index}.  {text}"


def _describe_single(key: str, index: int, names: None, text: str) -> str:
    if text.startswith("Number of"):
        text = "Can't parse serialized Example."
    return f"Key: {key}.  {text}"


_kept: dict[tuple, tuple[Features, tuple]] = {}
_MOST_KEPT = 256


def _features(
    sparse_keys: Sequence[Strings | str],
    sparse_types: list[DType],
    dense_keys: Sequence[Strings | str],
    dense_types: list[DType],
    dense_shapes: list[TensorShape],
) -> Features:
    """What is asked of records, for compiled loops. It is kept: a node's calls all have the same lists of attributes."""
    keys = tuple([key.encode() if isinstance(key, str) else key.item() for key in [*sparse_keys, *dense_keys]])
    attributes = (sparse_types, dense_types, dense_shapes)
    place = (keys, *map(id, attributes))
    found = _kept.get(place)
    if found is None:
        sparse = [Sparse(key, dtype) for key, dtype in zip(keys, sparse_types)]
        dense = zip(keys[len(sparse) :], dense_types, dense_shapes)
        features = Features(sparse, [Dense(key, dtype, _sizes(shape)) for key, dtype, shape in dense])
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        # With the lists, so that no others can come to have their addresses.
        found = _kept[place] = features, attributes
    return found[0]


@fresh("ParseExample")
def parse_example(
    serialized: Strings,
    names: Strings,
    sparse_keys: list[Strings],
    dense_keys: list[Strings],
    dense_defaults: list[AnyTensor],
    *,
    sparse_types: list[DType],
    Tdense: list[DType],
    dense_shapes: list[TensorShape],
) -> _Parsed:
    if serialized.ndim != 1:
        raise _error(f"Expected serialized to be a vector, got shape: {list(serialized.shape)}")
    if names.size and names.size != serialized.size:
        raise _error(f"Expected len(names) == len(serialized), but got: {names.size} vs. {serialized.size}")
    compiled = compiled_examples.examples(
        serialized, _features(sparse_keys, sparse_types, dense_keys, Tdense, dense_shapes), dense_defaults
    )
    if compiled is not None:
        return (*columns(compiled[0]), compiled[1])
    examples = [lazy_features.of_example(s) for s in serialized]
    called = list(names.flat)
    dense = [
        _dense_batch(examples, called, key.item().decode(), dtype, shape, default, _describe_batch)
        for key, dtype, shape, default in zip(dense_keys, Tdense, dense_shapes, dense_defaults)
    ]
    sparse = []
    for key, dtype in zip(sparse_keys, sparse_types):
        name = key.item().decode()
        rows = []
        for index, features in enumerate(examples):
            complain = functools.partial(_describe_batch, name, index, called)
            rows.append(_sparse_values(_feature(features, name), dtype, complain))
        sparse.append(_sparse_batch(rows, dtype))
    indices, values, shapes = ([s[i] for s in sparse] for i in range(3))
    return indices, values, shapes, dense


@fresh("ParseSingleExample")
def parse_single_example(
    serialized: Strings,
    dense_defaults: list[AnyTensor],
    *,
    sparse_keys: list[str],
    dense_keys: list[str],
    sparse_types: list[DType],
    Tdense: list[DType],
    dense_shapes: list[TensorShape],
) -> _Parsed:
    if serialized.ndim != 0:
        raise _error(f"Expected serialized to be a scalar, got shape: {list(serialized.shape)}")
    features = lazy_features.of_example(serialized.item())
    dense = [
        _dense_batch([features], None, key, dtype, shape, default, _describe_single)[0:1].reshape(_single_shape(shape))
        for key, dtype, shape, default in zip(dense_keys, Tdense, dense_shapes, dense_defaults)
    ]
    indices, values, shapes = [], [], []
    for key, dtype in zip(sparse_keys, sparse_types):
        found = _sparse_values(_feature(features, key), dtype, functools.partial(_describe_single, key, 0, None))
        indices.append(torch.arange(len(found)).reshape(-1, 1))
        values.append(_tensor(found, dtype, (len(found),)))
        shapes.append(torch.tensor([len(found)]))
    return indices, values, shapes, dense


def _single_shape(shape: TensorShape) -> list[int]:
    sizes = _sizes(shape)
    return sizes if not sizes or sizes[0] >= 0 else [-1, *sizes[1:]]


@specialize("ParseSingleExample")
def _single_example_parser(node: Node) -> Callable | None:
    """A reader of records that hold what is expected, as nearly all do; what is missing or odd goes to the kernel."""
    names = ("sparse_keys", "dense_keys", "sparse_types", "Tdense", "dense_shapes")
    attributes = {name: node.attribute(name) for name in names}
    sparse = [(key, _KINDS[t], t) for key, t in zip(attributes["sparse_keys"], attributes["sparse_types"])]
    dense = [
        (key, _KINDS[t], t, _sizes(shape))
        for key, t, shape in zip(*(attributes[n] for n in names[1::2]), attributes["dense_shapes"])
    ]
    if any(not math.prod(sizes) or -1 in sizes for *_, sizes in dense):
        return None
    counted = [(*feature, math.prod(feature[-1])) for feature in dense]
    asked = _features(*(attributes[n] for n in ("sparse_keys", "sparse_types", "dense_keys", "Tdense", "dense_shapes")))

    def parse(serialized: Strings, dense_defaults: list[AnyTensor]) -> _Parsed:
        if serialized.ndim:
            return parse_single_example(serialized, dense_defaults, **attributes)
        compiled = compiled_examples.examples(serialized, asked, dense_defaults, batched=False)
        if compiled is not None:
            return (*columns(compiled[0]), compiled[1])
        try:
            features = example_pb2.Example.FromString(serialized.item()).features.feature
        except (DecodeError, ValueError):
            return parse_single_example(serialized, dense_defaults, **attributes)
        indices, values, shapes, outputs = [], [], [], []
        for key, kind, dtype, sizes, count in counted:
            found = getattr(features[key], kind).value  # empty where the feature is missing or of another kind
            if len(found) != count:
                return parse_single_example(serialized, dense_defaults, **attributes)
            outputs.append(_tensor(found, dtype, sizes))
        for key, kind, dtype in sparse:
            found = getattr(features[key], kind).value
            if not found and features[key].WhichOneof("kind") not in (None, kind):
                return parse_single_example(serialized, dense_defaults, **attributes)
            count = len(found)
            indices.append(torch.from_numpy(np.arange(count).reshape(-1, 1)))
            values.append(_tensor(found, dtype, (count,)))
            shapes.append(torch.from_numpy(np.array([count])))
        return indices, values, shapes, outputs

    return parse


# --- sequences --------------------------------------------------------------------------------


def _context_dense(
    features: Mapping[str, Feature], key: str, dtype: DType, shape: TensorShape, default: AnyTensor, name: str
) -> AnyTensor:
    feature = _feature(features, key)
    sizes = _sizes(shape)
    count = math.prod(sizes)
    kind = _NAMES[_KINDS[dtype]]
    if feature is None or feature.WhichOneof("kind") is None:
        values = _flat(default)
        if len(values) != count:
            raise _error(f"Name: {name}, Context feature '{key}' is required but could not be found.")
        return _tensor(values, dtype, sizes)
    if feature.WhichOneof("kind") != _KINDS[dtype]:
        raise _error(
            f"Name: {name}, Context feature: {key}.  Data types don't match. Expected type: {kind}  Feature is: {feature}"
        )
    values = list(getattr(feature, _KINDS[dtype]).value)
    if len(values) != count:
        raise _error(
            f"Name: {name}, Key: {key}, Index: 0.  Number of {kind} values != expected.  "
            f"values size: {len(values)} but output shape: {_shape_text(sizes)}"
        )
    return _tensor(values, dtype, sizes)


def _context_sparse(features: Mapping[str, Feature], key: str, dtype: DType, name: str) -> SparseParts:
    feature = _feature(features, key)
    kind = feature.WhichOneof("kind") if feature is not None else None
    if kind is not None and kind != _KINDS[dtype]:
        raise _error(
            f"Name: {name}, Context feature: {key}.  Data types don't match. "
            f"Expected type: {_NAMES[_KINDS[dtype]]}  Feature is: {feature}"
        )
    found = list(getattr(feature, kind).value) if kind else []
    return torch.arange(len(found)).reshape(-1, 1), _tensor(found, dtype, (len(found),)), torch.tensor([len(found)])


def _list_dense(
    feature_lists: Mapping[str, FeatureList],
    key: str,
    dtype: DType,
    shape: TensorShape,
    may_be_missing: bool,
    name: str,
) -> list[list]:
    """The rows of a feature list, one for each step."""
    sizes = _sizes(shape)
    count = math.prod(sizes)
    kind = _NAMES[_KINDS[dtype]]
    if key not in feature_lists:
        if not may_be_missing:
            raise _error(
                f"Name: {name}, Feature list '{key}' is required but could not be found.  "
                "Did you mean to include it in feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?"
            )
        return []
    rows = []
    for index, feature in enumerate(feature_lists[key].feature):
        if feature.WhichOneof("kind") != _KINDS[dtype]:
            raise _error(
                f"Name: {name}, Feature list: {key}, Index: {index}.  Data types don't match. Expected type: {kind}  Feature is: {feature}"
            )
        values = list(getattr(feature, _KINDS[dtype]).value)
        if len(values) != count:
            raise _error(
                f"Name: {name}, Key: {key}, Index: {index}.  Number of {kind} values != expected.  "
                f"values size: {len(values)} but output shape: {_shape_text(sizes)}"
            )
        rows.append(values)
    return rows


def _list_sparse(feature_lists: Mapping[str, FeatureList], key: str, dtype: DType, name: str) -> list[list]:
    """A list of values for each step of a feature list."""
    if key not in feature_lists:
        return []
    rows = []
    for index, feature in enumerate(feature_lists[key].feature):
        kind = feature.WhichOneof("kind")
        if kind is not None and kind != _KINDS[dtype]:
            raise _error(
                f"Name: {name}, Feature List: {key}, Index: {index}.  Data types don't match. "
                f"Expected type: {_NAMES[_KINDS[dtype]]}  Feature is: {feature}"
            )
        rows.append(list(getattr(feature, kind).value) if kind else [])
    return rows


@fresh("ParseSingleSequenceExample")
def parse_single_sequence_example(
    serialized: Strings,
    feature_list_dense_missing_assumed_empty: Strings,
    context_sparse_keys: list[Strings],
    context_dense_keys: list[Strings],
    feature_list_sparse_keys: list[Strings],
    feature_list_dense_keys: list[Strings],
    context_dense_defaults: list[AnyTensor],
    debug_name: Strings,
    *,
    context_sparse_types: list[DType],
    Tcontext_dense: list[DType],
    feature_list_dense_types: list[DType],
    context_dense_shapes: list[TensorShape],
    feature_list_sparse_types: list[DType],
    feature_list_dense_shapes: list[TensorShape],
) -> _Parsed:
    compiled = compiled_examples.sequences(
        serialized,
        _features(context_sparse_keys, context_sparse_types, context_dense_keys, Tcontext_dense, context_dense_shapes),
        context_dense_defaults,
        _features(
            feature_list_sparse_keys,
            feature_list_sparse_types,
            feature_list_dense_keys,
            feature_list_dense_types,
            feature_list_dense_shapes,
        ),
        set(feature_list_dense_missing_assumed_empty.flat),
        batched=False,
    )
    if compiled is not None:
        return compiled.outputs()[:-1]
    name = debug_name.item().decode("utf-8", "replace")
    context, lists = lazy_features.of_sequence(serialized.item())
    missing_ok = {s.decode() for s in feature_list_dense_missing_assumed_empty.flat}

    def keys(tensors: list[Strings]) -> list[str]:
        return [t.item().decode() for t in tensors]

    context_sparse = [
        _context_sparse(context, key, dtype, name)
        for key, dtype in zip(keys(context_sparse_keys), context_sparse_types)
    ]
    context_dense = [
        _context_dense(context, key, dtype, shape, default, name)
        for key, dtype, shape, default in zip(
            keys(context_dense_keys), Tcontext_dense, context_dense_shapes, context_dense_defaults
        )
    ]
    list_sparse = [
        _sparse_batch(_list_sparse(lists, key, dtype, name), dtype)
        for key, dtype in zip(keys(feature_list_sparse_keys), feature_list_sparse_types)
    ]
    list_dense = []
    for key, dtype, shape in zip(keys(feature_list_dense_keys), feature_list_dense_types, feature_list_dense_shapes):
        rows = _list_dense(lists, key, dtype, shape, key in missing_ok, name)
        list_dense.append(_tensor([v for row in rows for v in row], dtype, [len(rows), *_sizes(shape)]))
    return (*columns(context_sparse), context_dense, *columns(list_sparse), list_dense)


@fresh("ParseSequenceExample")
def parse_sequence_example(
    serialized: Strings,
    debug_name: Strings,
    context_dense_defaults: list[AnyTensor],
    *,
    feature_list_dense_missing_assumed_empty: list[str],
    context_sparse_keys: list[str],
    context_dense_keys: list[str],
    feature_list_sparse_keys: list[str],
    feature_list_dense_keys: list[str],
    context_sparse_types: list[DType],
    Tcontext_dense: list[DType],
    feature_list_dense_types: list[DType],
    context_dense_shapes: list[TensorShape],
    feature_list_sparse_types: list[DType],
    feature_list_dense_shapes: list[TensorShape],
) -> _Parsed:
    compiled = compiled_examples.sequences(
        serialized,
        _features(context_sparse_keys, context_sparse_types, context_dense_keys, Tcontext_dense, context_dense_shapes),
        context_dense_defaults,
        _features(
            feature_list_sparse_keys,
            feature_list_sparse_types,
            feature_list_dense_keys,
            feature_list_dense_types,
            feature_list_dense_shapes,
        ),
        {key.encode() for key in feature_list_dense_missing_assumed_empty},
    )
    if compiled is not None:
        return compiled.outputs()
    contexts, lists = zip(*map(lazy_features.of_sequence, serialized.flat)) if serialized.size else ((), ())
    names = list(debug_name.flat)
    missing_ok = set(feature_list_dense_missing_assumed_empty)
    context_sparse = []
    for key, dtype in zip(context_sparse_keys, context_sparse_types):
        rows = [
            _sparse_values(_feature(c, key), dtype, functools.partial(_describe_batch, key, i, names))
            for i, c in enumerate(contexts)
        ]
        context_sparse.append(_sparse_batch(rows, dtype))
    context_dense = [
        _dense_batch(
            contexts, None, key, dtype, shape, default, lambda k, i, _, text: _describe_batch(k, i, names, text)
        )
        for key, dtype, shape, default in zip(
            context_dense_keys, Tcontext_dense, context_dense_shapes, context_dense_defaults
        )
    ]
    list_sparse = [
        _sparse_steps([_steps(f, key, dtype, _name(names, i)) for i, f in enumerate(lists)], dtype)
        for key, dtype in zip(feature_list_sparse_keys, feature_list_sparse_types)
    ]
    list_dense, lengths = [], []
    for key, dtype, shape in zip(feature_list_dense_keys, feature_list_dense_types, feature_list_dense_shapes):
        found = []
        for index, f in enumerate(lists):
            if key not in f and key not in missing_ok:
                raise _error(f"Missing feature {key} in example {_name(names, index)}")
            found.append(_steps(f, key, dtype, _name(names, index), math.prod(_sizes(shape))))
        list_dense.append(_padded_steps(found, dtype, _sizes(shape)))
        lengths.append(torch.tensor([len(rows) for rows in found], dtype=torch.int64))
    return (*columns(context_sparse), context_dense, *columns(list_sparse), list_dense, lengths)


def _steps(
    feature_lists: Mapping[str, FeatureList], key: str, dtype: DType, name: str, count: int | None = None
) -> list[list]:
    """The values of each step of a list in a batch, as many as `count` says; a step without a kind has none."""
    rows = []
    for index, feature in enumerate(feature_lists[key].feature if key in feature_lists else ()):
        kind = feature.WhichOneof("kind")
        if kind is not None and kind != _KINDS[dtype]:
            raise _error(
                f"Error in sequence feature {key} in example {name}: step {index} has {_NAMES[kind]} values, "
                f"{_NAMES[_KINDS[dtype]]} ones are wanted."
            )
        row = list(getattr(feature, kind).value) if kind else []
        if count is not None and len(row) != count:
            raise _error(
                f"Unexpected number of elements in feature {key}, example {name}: step {index} has {len(row)}, not {count}."
            )
        rows.append(row)
    return rows


def _padded_steps(examples: list[list[list]], dtype: DType, sizes: list[int]) -> AnyTensor:
    """Examples with values of these sizes at each step, filled up to the longest of them."""
    longest = max(map(len, examples), default=0)
    blank = [_EMPTY[dtype]] * math.prod(sizes)
    values = [v for rows in examples for row in rows + [blank] * (longest - len(rows)) for v in row]
    return _tensor(values, dtype, [len(examples), longest, *sizes])


def _sparse_steps(examples: list[list[list]], dtype: DType) -> SparseParts:
    """(indices, values, shape) of a list of values for each step of each example."""
    entries = [
        (i, j, k, v) for i, steps in enumerate(examples) for j, row in enumerate(steps) for k, v in enumerate(row)
    ]
    steps = max(map(len, examples), default=0)
    width = max((len(row) for example in examples for row in example), default=0)
    return (
        torch.tensor([e[:3] for e in entries], dtype=torch.int64).reshape(-1, 3),
        _tensor([e[3] for e in entries], dtype, (len(entries),)),
        torch.tensor([len(examples), steps, width]),
    )
