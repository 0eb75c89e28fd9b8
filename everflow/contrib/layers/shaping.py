"""Layers without weights: dropout, flattening, one-hot codes, maxout, softmax, images and sequences."""

from __future__ import annotations

from everflow import nn
from everflow.contrib.framework.arg_scope import add_arg_scope
from everflow.contrib.layers.model_variables import layer_variable, model_variable_getter
from everflow.contrib.layers.outputs import check_data_format, collect_named_outputs
from everflow.framework import dtypes
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.framework.shapes import dimension_value
from everflow.layers import core
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.variables import initializers
from everflow.ops.variables.scope import variable_scope


@add_arg_scope
def dropout(inputs, keep_prob=0.5, noise_shape=None, is_training=True, outputs_collections=None, scope=None, seed=None):
    """While training, each element is kept with probability `keep_prob`, and scaled up; else it stays as it is."""
    with variable_scope(scope, "Dropout", [inputs], custom_getter=model_variable_getter()) as sc:
        inputs = convert_to_tensor(inputs)
        layer = core.Dropout(rate=1 - keep_prob, noise_shape=noise_shape, seed=seed, name=sc.name, _scope=sc)
        outputs = layer.apply(inputs, training=is_training)
        return collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def flatten(inputs, outputs_collections=None, scope=None):
    """Each example as a vector.

    Args:
        inputs: The tensor to work on.
        outputs_collections: The collection the result is added to.
        scope: The variable scope.

    Returns:
        A matrix.

    Example:
        >>> tf.contrib.layers.flatten(tf.ones([2, 4, 4])).shape.as_list()
        [2, 16]
    """
    with name_scope(scope, "Flatten", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        return collect_named_outputs(outputs_collections, sc, core.flatten(inputs))


@add_arg_scope
def one_hot_encoding(labels, num_classes, on_value=1.0, off_value=0.0, outputs_collections=None, scope=None):
    """Labels as vectors with one entry on."""
    with name_scope(scope, "OneHotEncoding", [labels, num_classes]) as sc:
        labels = convert_to_tensor(labels)
        if labels.dtype == dtypes.int32:
            labels = math.to_int64(labels)
        outputs = array.one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return collect_named_outputs(outputs_collections, sc, outputs)


def maxout(inputs, num_units, axis=-1, scope=None):
    """The largest of each group of features, `num_units` groups along an axis; Goodfellow et al. (2013)."""
    with variable_scope(scope, "MaxOut", [inputs]):
        inputs = convert_to_tensor(inputs)
        shape = inputs.get_shape().as_list()
        channels = shape[axis]
        if channels % num_units:
            raise ValueError(
                f"{channels} features ({inputs.name}, axis {axis}) are not a multiple of num_units={num_units}"
            )
        shape[axis] = num_units
        shape += [channels // num_units]
        # Sizes that are not known yet are taken from the tensor.
        for i, size in enumerate(shape):
            if size is None:
                shape[i] = array.shape(inputs)[i]
        return math.reduce_max(array.reshape(inputs, shape), -1, keepdims=False)


def softmax(logits, scope=None):
    """Softmax over the last dimension, for any rank."""
    with variable_scope(scope, "softmax", [logits]):
        classes = dimension_value(logits.get_shape()[-1])
        if classes is None:
            raise ValueError(f"The last dimension of logits has to be known: their shape is {logits.get_shape()}")
        flat = array.reshape(logits, [-1, classes])
        predictions = array.reshape(nn.softmax(flat), array.shape(logits))
        predictions.set_shape(logits.get_shape())
        return predictions


def spatial_softmax(
    features, temperature=None, name=None, variables_collections=None, trainable=True, data_format="NHWC"
):
    """Where each channel is strongest, as expected coordinates between -1 and 1: (x, y) for each channel."""
    with variable_scope(name, "spatial_softmax"):
        shape = array.shape(features)
        check_data_format(data_format, "NCHW", "NHWC")
        rows, columns, depth = (1, 2, 3) if data_format == "NHWC" else (2, 3, 1)
        height, width, channels = shape[rows], shape[columns], dimension_value(features.shape[depth])
        if channels is None:
            raise ValueError("The channels dimension of the features should be defined. Found `None`.")
        with name_scope("spatial_softmax_op", "spatial_softmax_op", [features]):
            lines = (math.lin_space(-1.0, 1.0, num=size) for size in (height, width))
            positions_x, positions_y = array.meshgrid(*lines, indexing="ij")
            positions_x = array.reshape(positions_x, [height * width])
            positions_y = array.reshape(positions_y, [height * width])
            ones = initializers.ones_initializer()
            start = ones if temperature is None else initializers.constant_initializer(temperature)
            made = layer_variable("temperature", (), dtypes.float32, start, variables_collections, trainable)
            if data_format == "NHWC":
                features = array.transpose(features, [0, 3, 1, 2])
            features = array.reshape(features, [-1, height * width])
            attention = nn.softmax(features / made)
            expected_x = math.reduce_sum(positions_x * attention, [1], keepdims=True)
            expected_y = math.reduce_sum(positions_y * attention, [1], keepdims=True)
            points = array.concat([expected_x, expected_y], 1)
            result = array.reshape(points, [-1, channels * 2])
            result.set_shape([None, channels * 2])
            return result


@add_arg_scope
def images_to_sequence(inputs, data_format="NHWC", outputs_collections=None, scope=None):
    """Images as sequences of their columns: [width, batch * height, channels]."""
    check_data_format(data_format, "NCHW", "NHWC")
    with name_scope(scope, "ImagesToSequence", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        if data_format == "NCHW":
            inputs = array.transpose(inputs, [0, 2, 3, 1])
        _, _, width, channels = inputs.get_shape().as_list()
        shape = array.shape(inputs)
        batch, height = shape[0], shape[1]
        transposed = array.transpose(inputs, [2, 0, 1, 3])
        outputs = array.reshape(transposed, [width, batch * height, channels])
        return collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def sequence_to_images(inputs, height, output_data_format="channels_last", outputs_collections=None, scope=None):
    """Sequences of columns as images again: the reverse of `images_to_sequence`."""
    with name_scope(scope, "SequenceToImages", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        width, many, depth = inputs.get_shape().as_list()
        batch = -1 if many is None else many // height
        reshaped = array.reshape(inputs, [width, batch, height, depth])
        order = [1, 3, 2, 0] if output_data_format == "channels_first" else [1, 2, 0, 3]
        return collect_named_outputs(outputs_collections, sc, array.transpose(reshaped, order))


@add_arg_scope
def dense_to_sparse(tensor, eos_token=0, outputs_collections=None, scope=None):
    """The elements that differ from `eos_token`, as a SparseTensor."""
    with variable_scope(scope, "dense_to_sparse", [tensor]) as sc:
        tensor = convert_to_tensor(tensor)
        indices = array.where(math.not_equal(tensor, constant(eos_token, tensor.dtype)))
        values = array.gather_nd(tensor, indices)
        outputs = SparseTensor(indices, values, array.shape(tensor, out_type=dtypes.int64))
        return collect_named_outputs(outputs_collections, sc.name, outputs)
