"""Stacks of recurrent layers as one op: against layers of torch, with their parameters as one vector and apart."""

import numpy as np
import pytest
import torch

import everflow as tf

LAYERS, UNITS, DEPTH, TIME, BATCH = 2, 3, 4, 5, 2
GATES = {"lstm": 4, "gru": 3, "rnn_tanh": 1, "rnn_relu": 1}
RANDOM = np.random.RandomState(0)


def module(mode, both):
    torch.manual_seed(1)
    kind = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}.get(mode, torch.nn.RNN)
    options = {"nonlinearity": mode[4:]} if kind is torch.nn.RNN else {}
    return kind(DEPTH, UNITS, LAYERS, bidirectional=both, **options)


def parameters(layers, mode):
    """(matrices, biases) gate by gate, layer by layer, of the inputs before those of the state."""
    matrices, biases = [], []
    for group in layers.all_weights:
        of_inputs, of_state, bias, state_bias = (w.detach().numpy() for w in group)
        for whole, into in ((of_inputs, matrices), (of_state, matrices), (bias, biases), (state_bias, biases)):
            into += np.split(whole, GATES[mode])
    return matrices, biases


def setting(mode, both):
    return {"rnn_mode": mode, "input_mode": "linear_input", "direction": "bidirectional" if both else "unidirectional"}


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("mode", GATES)
def test_values_and_gradients_are_those_of_the_layers(sess, mode, both):
    layers = module(mode, both)
    vector = np.concatenate([p.ravel() for part in parameters(layers, mode) for p in part])
    directions = 2 if both else 1
    x = RANDOM.randn(TIME, BATCH, DEPTH).astype(np.float32)
    h, c = RANDOM.randn(2, LAYERS * directions, BATCH, UNITS).astype(np.float32)
    image = torch.from_numpy(x).requires_grad_()
    state = (torch.from_numpy(h), torch.from_numpy(c)) if mode == "lstm" else torch.from_numpy(h)
    wanted, last = layers(image, state)
    (wanted * wanted).sum().backward()
    tensor = tf.constant(x)
    found = tf.raw_ops.CudnnRNN(
        input=tensor, input_h=h, input_c=c if mode == "lstm" else np.float32(0), params=vector, **setting(mode, both)
    )
    grad = tf.gradients(found.output * found.output, tensor)[0]
    output, output_h, slope = sess.run([found.output, found.output_h, grad])
    np.testing.assert_allclose(output, wanted.detach(), atol=1e-5)
    np.testing.assert_allclose(output_h, (last[0] if mode == "lstm" else last).detach(), atol=1e-5)
    np.testing.assert_allclose(slope, image.grad, atol=1e-4)


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("mode", GATES)
def test_parameters_apart_and_together(sess, mode, both):
    matrices, biases = parameters(module(mode, both), mode)
    sizes = {"num_layers": LAYERS, "num_units": UNITS, "input_size": DEPTH}
    together = tf.raw_ops.CudnnRNNCanonicalToParams(**sizes, weights=matrices, biases=biases, **setting(mode, both))
    size = tf.raw_ops.CudnnRNNParamsSize(**sizes, T=tf.float32, S=tf.int32, **setting(mode, both))
    apart = tf.raw_ops.CudnnRNNParamsToCanonical(
        **sizes, params=together, num_params=len(matrices), **setting(mode, both)
    )
    vector, count, (weights, offsets) = sess.run([together, size, list(apart)])
    assert count.tolist() == [vector.size]
    for given, found in zip(matrices + biases, weights + offsets, strict=True):
        np.testing.assert_array_equal(given, found)


def test_sequences_end_where_their_length_says(sess):
    layers = module("gru", False)
    vector = np.concatenate([p.ravel() for part in parameters(layers, "gru") for p in part])
    x = RANDOM.randn(TIME, BATCH, DEPTH).astype(np.float32)
    h = np.zeros([LAYERS, BATCH, UNITS], np.float32)
    found = tf.raw_ops.CudnnRNNV3(
        input=x, input_h=h, input_c=np.float32(0), params=vector, sequence_lengths=[2, TIME], **setting("gru", False)
    )
    output, last = sess.run([found.output, found.output_h])
    short, state = layers(torch.from_numpy(x[:2, :1]))
    np.testing.assert_allclose(output[:2, :1], short.detach(), atol=1e-5)
    np.testing.assert_allclose(last[:, :1], state.detach(), atol=1e-5)
    assert not output[2:, 0].any()


def test_dropout_between_layers_is_drawn_anew_and_only_in_training(sess):
    layers = module("rnn_tanh", False)
    vector = np.concatenate([p.ravel() for part in parameters(layers, "rnn_tanh") for p in part])
    given = {
        "input": np.ones([TIME, BATCH, DEPTH], np.float32),
        "input_h": np.zeros([LAYERS, BATCH, UNITS], np.float32),
        "input_c": np.float32(0),
        "params": vector,
        "dropout": 0.5,
        **setting("rnn_tanh", False),
    }
    training, serving = (tf.raw_ops.CudnnRNN(is_training=t, **given).output for t in (True, False))
    first, second, plain, again = sess.run(training), sess.run(training), sess.run(serving), sess.run(serving)
    assert (first != second).any() and (plain == again).all()


def test_what_can_not_be(sess):
    state = np.zeros([1, BATCH, UNITS], np.float32)
    given = {"input": np.zeros([TIME, BATCH, DEPTH], np.float32), "input_h": state, "input_c": state}
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected 108 parameters"):
        sess.run(tf.raw_ops.CudnnRNN(params=np.zeros(5, np.float32), **given).output)
    with pytest.raises(tf.errors.UnimplementedError, match="skip_input"):
        sess.run(tf.raw_ops.CudnnRNN(params=np.zeros(5, np.float32), input_mode="skip_input", **given).output)
