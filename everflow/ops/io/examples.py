"""What features an Example or SequenceExample has, and the ops that parse it into tensors."""

from __future__ import annotations

import collections

from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.registry import shape_rule
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import TensorShape
from everflow.ops.array.basic import expand_dims, reshape, squeeze
from everflow.ops.array.constants import constant
from everflow.ops.sparse.functions import sparse_merge


class VarLenFeature(collections.namedtuple("VarLenFeature", ["dtype"])):
    """A feature of any number of values; parsed into a SparseTensor.

    Args:
        dtype: The type of the elements.

    Example:
        >>> example = tf.train.Example()
        >>> example.features.feature["words"].bytes_list.value.extend([b"a", b"b"])
        >>> parsed = tf.parse_single_example(example.SerializeToString(), {"words": tf.VarLenFeature(tf.string)})
        >>> sess.run(parsed["words"]).values
        array([b'a', b'b'], dtype=object)
    """


class SparseFeature(
    collections.namedtuple("SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"])
):
    """A sparse vector (or tensor) whose indices and values are two features of the Example.

    Args:
        index_key: The feature with the indices; a list of features for more than one dimension.
        value_key: The feature with the values.
        dtype: The type of the elements.
        size: The length of the vector, or of each dimension.
        already_sorted: Whether indices are in order in every example.

    Example:
        >>> example = tf.train.Example()
        >>> example.features.feature["at"].int64_list.value.extend([1, 3])
        >>> example.features.feature["of"].float_list.value.extend([0.5, 2.0])
        >>> parsed = tf.parse_single_example(example.SerializeToString(), {"v": tf.SparseFeature("at", "of", tf.float32, 4)})
        >>> sess.run(tf.sparse_tensor_to_dense(parsed["v"]))
        array([0. , 0.5, 0. , 2. ], dtype=float32)
    """

    def __new__(cls, index_key, value_key, dtype, size, already_sorted=False):
        return super().__new__(cls, index_key, value_key, dtype, size, already_sorted)


class FixedLenFeature(collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])):
    """A feature with a fixed number of values; required where it has no default.

    Args:
        shape: The lengths of the axes.
        dtype: The type of the elements.
        default_value: The values where an example lacks the feature; None makes it an error.

    Example:
        >>> example = tf.train.Example()
        >>> example.features.feature["age"].int64_list.value.append(36)
        >>> parsed = tf.parse_single_example(example.SerializeToString(), {"age": tf.FixedLenFeature([], tf.int64)})
        >>> sess.run(parsed)
        {'age': np.int64(36)}
    """

    def __new__(cls, shape, dtype, default_value=None):
        return super().__new__(cls, shape, dtype, default_value)


class FixedLenSequenceFeature(
    collections.namedtuple("FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"])
):
    """A feature with any number of rows of a fixed shape; parsed into a dense tensor, padded in a batch.

    Args:
        shape: The shape of one row.
        dtype: The type of the elements.
        allow_missing: Whether an example may lack the feature. In `tf.parse_example` it must be True.
        default_value: What short rows of a batch are filled up with.

    Example:
        >>> example = tf.train.Example()
        >>> example.features.feature["xy"].float_list.value.extend([1.0, 2.0, 3.0, 4.0])
        >>> wanted = {"xy": tf.FixedLenSequenceFeature([2], tf.float32, allow_missing=True)}
        >>> sess.run(tf.parse_single_example(example.SerializeToString(), wanted))["xy"]
        array([[1., 2.],
               [3., 4.]], dtype=float32)
    """

    def __new__(cls, shape, dtype, allow_missing=False, default_value=None):
        return super().__new__(cls, shape, dtype, allow_missing, default_value)


class _Wanted:
    """The sparse and dense outputs to parse, in the order in which the op will have them."""

    def __init__(self):
        self.sparse_keys, self.sparse_types = [], []
        self.dense_keys, self.dense_types, self.dense_shapes = [], [], []
        self.dense_defaults = {}

    def add_sparse(self, key, dtype):
        if key in self.sparse_keys:
            known = self.sparse_types[self.sparse_keys.index(key)]
            if known != dtype:
                raise ValueError(f"Conflicting type {known} vs {dtype} for feature {key}.")
            return
        self.sparse_keys.append(key)
        self.sparse_types.append(dtype)

    def add_dense(self, key, feature):
        self.dense_keys.append(key)
        self.dense_types.append(feature.dtype)
        self.dense_shapes.append(feature.shape)
        if feature.default_value is not None:
            self.dense_defaults[key] = feature.default_value

    @property
    def shapes(self):
        return [TensorShape(shape) for shape in self.dense_shapes]

    def outputs(self, indices, values, shapes, dense):
        """What the op gave, by key."""
        return dict(zip(self.sparse_keys + self.dense_keys, [*map(SparseTensor, indices, values, shapes), *dense]))

    def checked(self):
        sparse, dense = set(self.sparse_keys), set(self.dense_keys)
        if not sparse and not dense:
            raise ValueError("No features are asked for: name at least one sparse or dense key")
        if sparse & dense:
            raise ValueError(f"A key is of a sparse feature or of a dense one, but both have {sorted(sparse & dense)}")
        return self


def _collect(features, allowed) -> _Wanted:
    """Features by name, as the op wants them: in the order of their names."""
    wanted = _Wanted()
    for key in sorted(features or {}):
        feature = features[key]
        if not isinstance(feature, allowed):
            if isinstance(feature, (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature)):
                raise ValueError(f"Unsupported {type(feature).__name__} {feature}.")
            raise ValueError(f"Invalid feature {key}:{feature}.")
        if isinstance(feature, VarLenFeature):
            if not feature.dtype:
                raise ValueError(f"Missing type for feature {key}.")
            wanted.add_sparse(key, feature.dtype)
        elif isinstance(feature, SparseFeature):
            _add_sparse_feature(wanted, key, feature)
        elif isinstance(feature, FixedLenFeature):
            if not feature.dtype:
                raise ValueError(f"Missing type for feature {key}.")
            if feature.shape is None:
                raise ValueError(f"Missing shape for feature {key}.")
            sizes = TensorShape(feature.shape)
            if feature.shape and sizes.ndims and sizes.size(0) is None:
                raise ValueError(f"The length of feature {key!r} is unknown: make it a FixedLenSequenceFeature")
            if not sizes.is_fully_defined():
                raise ValueError(f"The shape of feature {key!r} must be fully known, but is {sizes}")
            wanted.add_dense(key, feature)
        else:
            if not feature.dtype:
                raise ValueError(f"Missing type for feature {key}.")
            if feature.shape is None:
                raise ValueError(f"Missing shape for feature {key}.")
            wanted.add_dense(key, feature)
            if feature.allow_missing:
                wanted.dense_defaults[key] = None
            if feature.default_value is not None:
                wanted.dense_defaults[key] = feature.default_value
    return wanted


def _add_sparse_feature(wanted, key, feature):
    if not feature.index_key:
        raise ValueError(f"Missing index_key for SparseFeature {key}.")
    if not feature.value_key:
        raise ValueError(f"Missing value_key for SparseFeature {key}.")
    if not feature.dtype:
        raise ValueError(f"Missing type for feature {key}.")
    index_keys = [feature.index_key] if isinstance(feature.index_key, str) else feature.index_key
    for index_key in sorted(index_keys):
        wanted.add_sparse(index_key, dtypes.int64)
    wanted.add_sparse(feature.value_key, feature.dtype)


def _prepend_none(features):
    """Sequence features as dense ones whose first size is open."""
    if not features:
        return features
    changed = dict(features)
    for key, feature in features.items():
        if isinstance(feature, FixedLenSequenceFeature):
            if not feature.allow_missing:
                raise ValueError(f"The FixedLenSequenceFeature {key!r} must be made with allow_missing=True here")
            changed[key] = FixedLenSequenceFeature(
                [None, *feature.shape], feature.dtype, feature.allow_missing, feature.default_value
            )
    return changed


def _dense_defaults(wanted):
    """The tensors that stand for missing dense features; empty ones for required features."""
    tensors = []
    for key, dtype, shape in zip(wanted.dense_keys, wanted.dense_types, wanted.shapes):
        value = wanted.dense_defaults.get(key)
        if shape.ndims is not None and shape.ndims > 0 and shape.size(0) is None:
            # Rows are open: the default is one value to pad with.
            if value is None:
                value = constant("" if dtype == dtypes.string else 0, dtype=dtype)
            else:
                value = convert_to_tensor(value, dtype=dtype, name="padding_" + _clean(key))
                value = reshape(value, [])
        elif value is None:
            value = constant([], dtype=dtype)
        elif not isinstance(value, Tensor):  # a program's tensor is taken as it is
            value = convert_to_tensor(value, dtype=dtype, name="key_" + _clean(key))
            value = reshape(value, shape)
        tensors.append(value)
    return tensors


def _clean(key):
    """A key as part of a node's name."""
    return "".join(c if c.isalnum() or c in "_.\\-/" else "_" for c in key)


def with_sparse_features(features, outputs):
    """Put the parts of SparseFeatures together; drop what was parsed for them alone."""
    for key in sorted(features):
        feature = features[key]
        if isinstance(feature, SparseFeature):
            ids = (
                [outputs[k] for k in feature.index_key]
                if isinstance(feature.index_key, (list, tuple))
                else outputs[feature.index_key]
            )
            outputs[key] = sparse_merge(
                ids, outputs[feature.value_key], vocab_size=feature.size, already_sorted=feature.already_sorted
            )
    for key in set(outputs) - set(features):
        del outputs[key]
    return outputs


_EXAMPLE_FEATURES = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature)


def example_arguments(features):
    """What an op that parses Examples takes: the features, rows of unknown number made explicit; keys, types and shapes
    of the outputs; and the tensors that stand for missing ones.
    """
    features = _prepend_none(features)
    wanted = _collect(features, _EXAMPLE_FEATURES).checked()
    return features, wanted, _dense_defaults(wanted)


def parse_example(serialized, features, name=None, example_names=None):
    """Tensors by feature from a batch of serialized Examples.

    Args:
        serialized: A vector of serialized `tf.train.Example` messages.
        features: What to parse, by name: `tf.FixedLenFeature`, `tf.VarLenFeature`, `tf.SparseFeature` or
            `tf.FixedLenSequenceFeature`.
        name: The name of the operation in the graph.
        example_names: Names for messages about examples.

    Returns:
        A dictionary of tensors and SparseTensors.

    Raises:
        ValueError: If there are no features.

    Example:
        >>> example = tf.train.Example()
        >>> example.features.feature["label"].int64_list.value.append(7)
        >>> batch = [example.SerializeToString()] * 2
        >>> sess.run(tf.parse_example(batch, {"label": tf.FixedLenFeature([], tf.int64)}))
        {'label': array([7, 7])}
    """
    if not features:
        raise ValueError(f"Missing: features was {features}.")
    features = _prepend_none(features)
    wanted = _collect(features, _EXAMPLE_FEATURES)
    return with_sparse_features(features, _parse_batch(serialized, wanted, example_names, name))


def _parse_batch(serialized, wanted, names, name):
    with name_scope(name, "ParseExample", [serialized, names]):
        wanted.checked()
        inputs = ([] if names is None else names, wanted.sparse_keys, wanted.dense_keys, _dense_defaults(wanted))
        found = raw.ParseExample(
            serialized, *inputs, sparse_types=wanted.sparse_types, dense_shapes=wanted.shapes, name=name
        )
        return wanted.outputs(*found)


def parse_single_example(serialized, features, name=None, example_names=None):
    """Tensors by feature from one serialized Example.

    Args:
        serialized: A serialized `tf.train.Example`, a scalar.
        features: What to parse, by name: `tf.FixedLenFeature`, `tf.VarLenFeature`, `tf.SparseFeature` or
            `tf.FixedLenSequenceFeature`.
        name: The name of the operation in the graph.
        example_names: Names for messages about examples.

    Returns:
        A dictionary of tensors and SparseTensors.

    Raises:
        ValueError: If there are no features.

    Example:
        >>> example = tf.train.Example()
        >>> example.features.feature["label"].int64_list.value.append(7)
        >>> sess.run(tf.parse_single_example(example.SerializeToString(), {"label": tf.FixedLenFeature([], tf.int64)}))
        {'label': np.int64(7)}
    """
    if not features:
        raise ValueError("Missing features.")
    if example_names is None:
        return parse_single_example_v2(serialized, features, name)
    with name_scope(name, "ParseSingleExample", [serialized, example_names]):
        features = _prepend_none(features)
        wanted = _collect(features, _EXAMPLE_FEATURES)
        serialized = expand_dims(_scalar(serialized, "serialized"), 0)
        example_names = expand_dims(_scalar(example_names, "names"), 0)
        outputs = _parse_batch(serialized, wanted, example_names, name)
        for key in wanted.dense_keys:
            outputs[key] = squeeze(outputs[key], [0], name="Squeeze_" + _clean(key))
        for key in wanted.sparse_keys:
            outputs[key] = _without_batch(outputs[key], _clean(key))
    return with_sparse_features(features, outputs)


def _scalar(value, what):
    value = convert_to_tensor(value)
    if value.shape.ndims not in (None, 0):
        raise ValueError(f"Input {what} must be a scalar")
    return value


def _without_batch(sparse, key):
    """The one row of a sparse matrix, as a sparse vector."""
    indices = raw.Slice(sparse.indices, [0, 1], [-1, -1], name="Slice_Indices_" + key)
    shape = raw.Slice(sparse.dense_shape, [1], [-1], name="Squeeze_Shape_" + key)
    return SparseTensor(indices, sparse.values, shape)


def parse_single_example_v2(serialized, features, name=None):
    """Tensors by feature from one serialized Example."""
    if not features:
        raise ValueError("Missing: features was None.")
    features = _prepend_none(features)
    wanted = _collect(features, _EXAMPLE_FEATURES)
    with name_scope(name, "ParseSingleExample", [serialized]):
        serialized = convert_to_tensor(serialized, name="serialized")
        wanted.checked()
        found = raw.ParseSingleExample(
            serialized,
            _dense_defaults(wanted),
            num_sparse=len(wanted.sparse_keys),
            sparse_keys=wanted.sparse_keys,
            sparse_types=wanted.sparse_types,
            dense_keys=wanted.dense_keys,
            dense_shapes=wanted.shapes,
            name=name,
        )
    return with_sparse_features(features, wanted.outputs(*found))


def _sequence_parts(context_features, sequence_features):
    if not (context_features or sequence_features):
        raise ValueError("Missing features.")
    context = _collect(context_features, (VarLenFeature, FixedLenFeature))
    lists = _collect(sequence_features, (VarLenFeature, FixedLenSequenceFeature))
    both = set(context.sparse_keys + context.dense_keys) & set(lists.sparse_keys + lists.dense_keys)
    if both:
        raise ValueError(f"Context and FeatureList keys must not intersect; intersection: {both}")
    missing_ok = []
    for key, default in lists.dense_defaults.items():
        if default is not None:
            raise ValueError(f"A feature list can't have a default other than None; {key!r} has {default!r}")
        missing_ok.append(key)
    return context, lists, missing_ok


def _sequence_options(context, lists, missing_ok):
    """What both ops for SequenceExamples are told of the two parts."""
    options = {"feature_list_dense_types": lists.dense_types, "feature_list_dense_missing_assumed_empty": missing_ok}
    for prefix, part in (("context", context), ("feature_list", lists)):
        options[f"{prefix}_sparse_keys"], options[f"{prefix}_dense_keys"] = part.sparse_keys, part.dense_keys
        options[f"{prefix}_sparse_types"], options[f"{prefix}_dense_shapes"] = part.sparse_types, part.shapes
    return options


def parse_single_sequence_example(
    serialized, context_features=None, sequence_features=None, example_name=None, name=None
):
    """Two dictionaries of tensors from one serialized SequenceExample: its context and its feature lists.

    Args:
        serialized: A serialized `tf.train.SequenceExample`, a scalar.
        context_features: What to parse of the context, by name.
        sequence_features: What to parse of the feature lists, by name.
        example_name: A name for messages.
        name: The name of the operation in the graph.

    Returns:
        Two dictionaries.

    Raises:
        ValueError: If there are no features.

    Example:
        >>> example = tf.train.SequenceExample()
        >>> for word in (3, 5):
        ...     example.feature_lists.feature_list["words"].feature.add().int64_list.value.append(word)
        >>> wanted = {"words": tf.FixedLenSequenceFeature([], tf.int64)}
        >>> context, lists = tf.parse_single_sequence_example(example.SerializeToString(), sequence_features=wanted)
        >>> sess.run(lists)
        {'words': array([3, 5])}
    """
    context, lists, missing_ok = _sequence_parts(context_features, sequence_features)
    with name_scope(name, "ParseSingleSequenceExample", [serialized, example_name]):
        out = raw.ParseSingleSequenceExample(
            serialized=serialized,
            context_dense_defaults=_dense_defaults(context),
            debug_name="" if example_name is None else example_name,
            name=name,
            **_sequence_options(context, lists, missing_ok),
        )
        return context.outputs(*out[:4]), lists.outputs(*out[4:8])


def parse_sequence_example(serialized, context_features=None, sequence_features=None, example_names=None, name=None):
    """Three dictionaries from a batch of SequenceExamples: contexts, feature lists, and the lengths of dense feature
    lists.

    Args:
        serialized: A vector of serialized `tf.train.SequenceExample` messages.
        context_features: What to parse of the contexts, by name.
        sequence_features: What to parse of the feature lists, by name.
        example_names: Names for messages about examples.
        name: The name of the operation in the graph.

    Returns:
        Three dictionaries.

    Raises:
        ValueError: If there are no features.

    Example:
        >>> example = tf.train.SequenceExample()
        >>> for word in (3, 5):
        ...     example.feature_lists.feature_list["words"].feature.add().int64_list.value.append(word)
        >>> wanted = {"words": tf.FixedLenSequenceFeature([], tf.int64)}
        >>> _, lists, lengths = tf.io.parse_sequence_example([example.SerializeToString()], sequence_features=wanted)
        >>> sess.run([lists["words"], lengths["words"]])
        [array([[3, 5]]), array([2])]
    """
    context, lists, missing_ok = _sequence_parts(context_features, sequence_features)
    with name_scope(name, "ParseSequenceExample", [serialized, example_names]):
        defaults = []
        for key, dtype in zip(context.dense_keys, context.dense_types):
            value = context.dense_defaults.get(key)
            if value is None:
                defaults.append(constant([], dtype=dtype))
            else:
                defaults.append(convert_to_tensor(value, dtype=dtype, name="key_" + _clean(key)))
        out = raw.ParseSequenceExample(
            serialized,
            [] if example_names is None else example_names,
            defaults,
            Ncontext_sparse=len(context.sparse_keys),
            Ncontext_dense=len(context.dense_keys),
            Nfeature_list_sparse=len(lists.sparse_keys),
            Nfeature_list_dense=len(lists.dense_keys),
            name=name,
            **_sequence_options(context, lists, missing_ok),
        )
        return context.outputs(*out[:4]), lists.outputs(*out[4:8]), dict(zip(lists.dense_keys, out[8]))


# --- shapes -----------------------------------------------------------------------------------


def _sparse_shapes(count, rank):
    """Shapes of the outputs of `count` sparse features: all indices, all values, all shapes."""
    return [TensorShape([None, rank])] * count + [TensorShape([None])] * count + [TensorShape([rank])] * count


@shape_rule("ParseExample")
def _parse_example_shape(op):
    batch = op.inputs[0].shape.with_rank(1)
    for shape in op.attrs["dense_shapes"]:
        if not shape[1:].is_fully_defined():
            raise ValueError(f"Of a dense feature only the number of rows may be unknown, but the shape is {shape}")
    dense = [batch.concatenate(shape) for shape in op.attrs["dense_shapes"]]
    return _sparse_shapes(op.attrs["Nsparse"], 2) + dense


@shape_rule("ParseSingleExample")
def _parse_single_example_shape(op):
    op.inputs[0].shape.with_rank(0)
    return _sparse_shapes(op.attrs["num_sparse"], 1) + list(op.attrs["dense_shapes"])


@shape_rule("ParseSingleSequenceExample")
def _parse_single_sequence_example_shape(op):
    op.inputs[0].shape.with_rank(0)
    lists = [TensorShape([None]).concatenate(shape) for shape in op.attrs["feature_list_dense_shapes"]]
    return (
        _sparse_shapes(op.attrs["Ncontext_sparse"], 1)
        + list(op.attrs["context_dense_shapes"])
        + _sparse_shapes(op.attrs["Nfeature_list_sparse"], 2)
        + lists
    )


@shape_rule("ParseSequenceExample")
def _parse_sequence_example_shape(op):
    batch = op.inputs[0].shape.with_rank(1)
    lists = [
        batch.concatenate(TensorShape([None])).concatenate(shape) for shape in op.attrs["feature_list_dense_shapes"]
    ]
    return (
        _sparse_shapes(op.attrs["Ncontext_sparse"], 2)
        + [batch.concatenate(shape) for shape in op.attrs["context_dense_shapes"]]
        + _sparse_shapes(op.attrs["Nfeature_list_sparse"], 3)
        + lists
        + [batch] * len(lists)
    )
