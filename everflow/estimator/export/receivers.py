"""Receivers: where a served model gets its features from, fed directly or parsed from serialized examples."""

from __future__ import annotations

import collections

from everflow.framework import dtypes
from everflow.framework.composites import SparseTensor
from everflow.framework.operation import Tensor
from everflow.framework.shapes import TensorShape
from everflow.ops.array.constants import placeholder
from everflow.ops.io.examples import parse_example
from everflow.ops.ragged.tensor import RaggedTensor

SINGLE_FEATURE_DEFAULT_NAME = "feature"
SINGLE_LABEL_DEFAULT_NAME = "label"
SINGLE_RECEIVER_DEFAULT_NAME = "input"


def _check_tensor(value, what):
    if not isinstance(value, (Tensor, SparseTensor, RaggedTensor)):
        raise ValueError(f"{what} must be a Tensor or SparseTensor, got {value!r}.")


def _as_dict(values, default, what, text_keys=False):
    """A dict of tensors; a single tensor under `default`."""
    if not isinstance(values, dict):
        values = {default: values}
    for key, value in values.items():
        if text_keys and not isinstance(key, str):
            raise ValueError(f"{what} keys must be strings: {key!r}.")
        _check_tensor(value, f"{what} {key}")
    return values


def _receivers(receiver_tensors):
    if receiver_tensors is None:
        raise ValueError("receiver_tensors must be defined.")
    return _as_dict(receiver_tensors, SINGLE_RECEIVER_DEFAULT_NAME, "receiver_tensor", text_keys=True)


def _alternatives(alternatives):
    if alternatives is None:
        return None
    if not isinstance(alternatives, dict):
        raise ValueError(f"receiver_tensors_alternatives must be a dict: {alternatives!r}.")
    return {
        name: _as_dict(tensors, SINGLE_RECEIVER_DEFAULT_NAME, "receiver_tensor", text_keys=True)
        for name, tensors in alternatives.items()
    }


_SERVING_FIELDS = ("features", "receiver_tensors", "receiver_tensors_alternatives")


class ServingInputReceiver(collections.namedtuple("ServingInputReceiver", _SERVING_FIELDS)):
    """The features of a served model, the tensors that are fed, and other sets of tensors that may be fed instead.

    Args:
        features: The features: a tensor, or tensors by name.
        receiver_tensors: What is fed: a tensor, or tensors by name.
        receiver_tensors_alternatives: Other sets of tensors that may be fed, by name.

    Example:
        >>> x = tf.placeholder(tf.float32, [None])
        >>> sorted(tf.estimator.export.ServingInputReceiver({"x": x}, x).features)
        ['x']
    """

    def __new__(cls, features, receiver_tensors, receiver_tensors_alternatives=None):
        if features is None:
            raise ValueError("features must be defined.")
        features = _as_dict(features, SINGLE_FEATURE_DEFAULT_NAME, "feature")
        return super().__new__(
            cls, features, _receivers(receiver_tensors), _alternatives(receiver_tensors_alternatives)
        )


class TensorServingInputReceiver(collections.namedtuple("TensorServingInputReceiver", _SERVING_FIELDS)):
    """A `ServingInputReceiver` for model functions whose features are one tensor rather than a dict.

    Args:
        features: The features: a tensor, or tensors by name.
        receiver_tensors: What is fed: a tensor, or tensors by name.
        receiver_tensors_alternatives: Other sets of tensors that may be fed, by name.

    Example:
        >>> x = tf.placeholder(tf.float32, [None])
        >>> tf.estimator.export.TensorServingInputReceiver(x, x).features is x
        True
    """

    def __new__(cls, features, receiver_tensors, receiver_tensors_alternatives=None):
        if features is None:
            raise ValueError("features must be defined.")
        _check_tensor(features, "feature")
        return super().__new__(
            cls, features, _receivers(receiver_tensors), _alternatives(receiver_tensors_alternatives)
        )


class UnsupervisedInputReceiver(collections.namedtuple("UnsupervisedInputReceiver", ["features", "receiver_tensors"])):
    """The features of a model that is exported to be trained or evaluated without labels."""

    def __new__(cls, features, receiver_tensors):
        if features is None:
            raise ValueError("features must be defined.")
        _as_dict(features, SINGLE_FEATURE_DEFAULT_NAME, "feature")
        return super().__new__(cls, features=features, receiver_tensors=_receivers(receiver_tensors))


class SupervisedInputReceiver(
    collections.namedtuple("SupervisedInputReceiver", ["features", "labels", "receiver_tensors"])
):
    """Features and labels of a model that is exported to be trained or evaluated further."""

    def __new__(cls, features, labels, receiver_tensors):
        for what, values in (("features", features), ("labels", labels)):
            if values is None:
                raise ValueError(f"{what} must be defined.")
            _as_dict(values, what, what.removesuffix("s"))
        return super().__new__(cls, features=features, labels=labels, receiver_tensors=_receivers(receiver_tensors))


# --- functions that make them -------------------------------------------------------------------


def build_parsing_serving_input_receiver_fn(feature_spec, default_batch_size=None):
    """A function that makes a receiver of serialized `tf.train.Example`s.

    Args:
        feature_spec: What to parse, as `tf.parse_example` takes it.
        default_batch_size: The size of a batch; any if None.

    Returns:
        A function.

    Example:
        >>> make = tf.estimator.export.build_parsing_serving_input_receiver_fn({"x": tf.FixedLenFeature([1], tf.float32)})
        >>> sorted(make().features)
        ['x']
    """

    def serving_input_receiver_fn():
        serialized = placeholder(dtypes.string, shape=[default_batch_size], name="input_example_tensor")
        return ServingInputReceiver(parse_example(serialized, feature_spec), {"examples": serialized})

    return serving_input_receiver_fn


def _placeholder_like(tensor, batch_size):
    """A placeholder of a tensor's name, type and shape, with the given size of batch."""
    shape = tensor.get_shape().as_list()
    shape = TensorShape([batch_size, *shape[1:]]) if shape else shape
    return placeholder(dtype=tensor.dtype, shape=shape, name=tensor.op.name)


def _placeholders_like(tensors, batch_size):
    if isinstance(tensors, dict):
        return {key: _placeholder_like(tensor, batch_size) for key, tensor in tensors.items()}
    return _placeholder_like(tensors, batch_size)


def build_raw_serving_input_receiver_fn(features, default_batch_size=None):
    """A function that makes a receiver whose features are fed as they are: placeholders like the given tensors.

    Args:
        features: The features: a tensor, or tensors by name.
        default_batch_size: The size of a batch; any if None.

    Returns:
        A function.

    Example:
        >>> make = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.ones([1, 2])})
        >>> make().features["x"].shape.as_list()
        [None, 2]
    """

    def serving_input_receiver_fn():
        receivers = {key: _placeholder_like(tensor, default_batch_size) for key, tensor in features.items()}
        return ServingInputReceiver(receivers, dict(receivers))

    return serving_input_receiver_fn


def _supervised_receiver(features, labels):
    receivers = dict(features) if isinstance(features, dict) else {SINGLE_RECEIVER_DEFAULT_NAME: features}
    labelled = labels if isinstance(labels, dict) else {SINGLE_LABEL_DEFAULT_NAME: labels}
    both = set(receivers) & set(labelled)
    if both:
        raise ValueError(f"Features and labels must have distinct keys. Found overlapping keys: {both}")
    return SupervisedInputReceiver(features, labels, {**receivers, **labelled})


def build_raw_supervised_input_receiver_fn(features, labels, default_batch_size=None):
    """A function that makes a receiver of features and labels, fed as they are.

    Args:
        features: The features, by name.
        labels: The labels.
        default_batch_size: The size of a batch; any if None.

    Returns:
        A function.

    Raises:
        ValueError: If features and labels share a name.

    Example:
        >>> make = tf.estimator.experimental.build_raw_supervised_input_receiver_fn({"x": tf.ones([2])}, tf.ones([2]))
        >>> sorted(make().receiver_tensors)
        ['label', 'x']
    """

    def supervised_input_receiver_fn():
        return _supervised_receiver(
            _placeholders_like(features, default_batch_size), _placeholders_like(labels, default_batch_size)
        )

    return supervised_input_receiver_fn
