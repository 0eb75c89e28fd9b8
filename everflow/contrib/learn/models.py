"""Models of a few ops, as programs drew them before there were estimators: linear ones, and sequences to sequences."""

from __future__ import annotations

import functools

from everflow import losses
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import name_scope
from everflow.ops import array, math
from everflow.ops.io.summaries import histogram
from everflow.ops.nn import activations as nn
from everflow.ops.nn.activations import xw_plus_b
from everflow.ops.nn.embedding import embedding_lookup as lookup
from everflow.ops.nn.losses import softmax_cross_entropy_with_logits
from everflow.ops.variables import initializers
from everflow.ops.variables.scope import get_variable, variable_scope
from everflow.rnn.static import static_rnn


def mean_squared_error_regressor(tensor_in, labels, weights, biases, name=None):
    """(predictions, loss) of a linear regression."""
    with name_scope(name, "mean_squared_error_regressor", [tensor_in, labels]):
        predictions = xw_plus_b(tensor_in, weights, biases)
        if labels.shape.ndims == 1 and predictions.shape.ndims == 2:
            predictions = array.squeeze(predictions, axis=[1])
        return predictions, losses.mean_squared_error(labels, predictions)


def softmax_classifier(tensor_in, labels, weights, biases, class_weight=None, name=None):
    """(probabilities of classes, loss) of a linear classifier; labels are rows with a one for the class."""
    with name_scope(name, "softmax_classifier", [tensor_in, labels]):
        logits = xw_plus_b(tensor_in, weights, biases)
        if class_weight is not None:
            logits = math.multiply(logits, class_weight)
        return nn.softmax(logits), losses.softmax_cross_entropy(labels, logits)


def embedding_lookup(params, ids, name="embedding_lookup"):
    """The vectors of ids of any shape."""
    with name_scope(name, "embedding_lookup", [params, ids]):
        params, ids = convert_to_tensor(params), convert_to_tensor(ids)
        shape = array.shape(ids)
        flat = array.reshape(ids, array.reshape(math.reduce_prod(shape, keepdims=True), [1]))
        found = lookup(params, flat, name)
        found = array.reshape(found, array.concat([shape, [-1]], 0))
        size = params.shape.size(1)
        found.set_shape(ids.shape.concatenate(size))
        return found


def categorical_variable(tensor_in, n_classes, embedding_size, name):
    """The vectors of classes, which are learned as the variable `NAME_embeddings`."""
    with variable_scope(name):
        embeddings = get_variable(f"{name}_embeddings", [n_classes, embedding_size])
        return embedding_lookup(embeddings, tensor_in)


def _linear(x, y, outputs, given, scope, model):
    """What `model` makes of weights and biases that are made in a scope; both start as `given` says."""
    initializer, bias_initializer = given
    with variable_scope(scope):
        histogram(f"{scope}.x", x)
        histogram(f"{scope}.y", y)
        options = {"dtype": x.dtype.base_dtype}
        weights = get_variable("weights", [x.shape.size(1), *outputs], initializer=initializer, **options)
        bias = get_variable("bias", [*(outputs or [1])], initializer=bias_initializer, **options)
        histogram(f"{scope}.weights", weights)
        histogram(f"{scope}.bias", bias)
        return model(x, y, weights, bias)


def _initializers(init_mean, init_stddev, dtype):
    """(of weights, of biases): normal ones, where a mean is given."""
    if init_mean is None:
        return None, None
    normal = initializers.random_normal_initializer(init_mean, init_stddev, dtype=dtype)
    return normal, normal


def linear_regression(x, y, init_mean=None, init_stddev=1.0):
    """(predictions, loss); weights start as normal draws where a mean is given."""
    outputs = [1] if y.shape.ndims == 1 else [y.shape.size(1)]
    given = _initializers(init_mean, init_stddev, x.dtype)
    return _linear(x, y, outputs, given, "linear_regression", mean_squared_error_regressor)


def linear_regression_zero_init(x, y):
    """(predictions, loss) of weights that start as zeros."""
    return linear_regression(x, y, init_mean=0.0, init_stddev=0.0)


def logistic_regression(x, y, class_weight=None, init_mean=None, init_stddev=1.0):
    """(probabilities, loss); labels are rows with a one for the class."""
    given = _initializers(init_mean, init_stddev, x.dtype)
    classify = functools.partial(softmax_classifier, class_weight=class_weight)
    return _linear(x, y, [y.shape.size(-1)], given, "logistic_regression", classify)


def logistic_regression_zero_init(x, y):
    """(probabilities, loss) of weights that start as zeros."""
    return logistic_regression(x, y, init_mean=0.0, init_stddev=0.0)


# --- sequences to sequences


def sequence_classifier(decoding, labels, sampling_decoding=None, name=None):
    """(probabilities of classes at each step, loss), from logits and labels at each step."""
    with name_scope(name, "sequence_classifier", [decoding, labels]):
        steps = [
            softmax_cross_entropy_with_logits(labels=labels[i], logits=logits) for i, logits in enumerate(decoding)
        ]
        probabilities = [nn.softmax(logits) for logits in sampling_decoding or decoding]
        loss = math.reduce_sum(math.add_n(steps), name="sequence_loss")
        return array.stack(probabilities, axis=1), loss


def seq2seq_inputs(x, y, input_length, output_length, sentinel=None, name=None):
    """(inputs of the encoder at each step, of the decoder at each step, outputs at each step).

    The decoder begins with a sentinel, zeros by default, and takes what it was to give one step before.
    """
    with name_scope(name, "seq2seq_inputs", [x, y]):
        encoder = array.unstack(x, num=input_length, axis=1)
        outputs = array.unstack(y, num=output_length, axis=1)
        if sentinel is None:
            shape = array.stack([array.shape(x)[0], y.shape.size(2)])
            sentinel = array.fill(shape, 0.0)
            sentinel.set_shape(y.shape[:1].concatenate(y.shape[2:]))
        return encoder, [sentinel, *outputs], [*outputs, sentinel]


def rnn_decoder(decoder_inputs, initial_state, cell, scope=None):
    """(outputs, states, outputs that feed on themselves, states of that) of a cell over steps."""
    with variable_scope(scope or "dnn_decoder") as within:
        states, sampling_states = [initial_state], [initial_state]
        outputs, sampling_outputs = [], []
        for i, given in enumerate(decoder_inputs):
            if i > 0:
                within.reuse_variables()
            output, state = cell(given, states[-1])
            outputs.append(output)
            states.append(state)
            # What is sampled begins with the first output and the state before it, and goes on with what it gave.
            sampled = (output, initial_state) if i == 0 else cell(sampling_outputs[-1], sampling_states[-1])
            sampling_outputs.append(sampled[0])
            sampling_states.append(sampled[1])
    return outputs, states, sampling_outputs, sampling_states


def rnn_seq2seq(encoder_inputs, decoder_inputs, encoder_cell, decoder_cell=None, dtype=dtypes.float32, scope=None):
    """The same for a decoder that begins with the last state of an encoder."""
    with variable_scope(scope or "rnn_seq2seq"):
        _, last = static_rnn(encoder_cell, encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, last, decoder_cell or encoder_cell)
