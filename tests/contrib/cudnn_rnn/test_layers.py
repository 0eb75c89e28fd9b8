"""tf.contrib.cudnn_rnn: the networks compute what the compatible cells do from their checkpoints, and can be trained."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import cudnn_rnn

X = np.random.RandomState(0).randn(4, 3, 5).astype("f")  # time, batch, depth


@pytest.fixture(autouse=True)
def new_graph():
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        yield


def _random_biases():
    return tf.random_uniform_initializer(-0.5, 0.5)


CELLS = {
    "lstm": (cudnn_rnn.CudnnLSTM, cudnn_rnn.CudnnCompatibleLSTMCell),
    "gru": (cudnn_rnn.CudnnGRU, cudnn_rnn.CudnnCompatibleGRUCell),
    "tanh": (cudnn_rnn.CudnnRNNTanh, tf.nn.rnn_cell.BasicRNNCell),
    "relu": (cudnn_rnn.CudnnRNNRelu, lambda units: tf.nn.rnn_cell.BasicRNNCell(units, activation=tf.nn.relu)),
}


@pytest.mark.parametrize("kind", CELLS)
def test_cells_continue_from_a_checkpoint(kind, tmp_path):
    layer, cell = CELLS[kind]
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        outputs, states = layer(2, 4, name="net", bias_initializer=_random_biases())(X)
        session.run(tf.global_variables_initializer())
        # The cells add the two biases of cuDNN, so saving and restoring keeps the function, not the vector.
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
        wanted, last = session.run([outputs, states[0]])
    with tf.Graph().as_default(), tf.Session() as session, tf.variable_scope("net"):
        cells = tf.nn.rnn_cell.MultiRNNCell([cell(4) for _ in range(2)])
        outputs, _ = tf.nn.dynamic_rnn(cells, tf.constant(X), dtype=tf.float32, time_major=True, scope="rnn")
        tf.train.Saver().restore(session, path)
        np.testing.assert_allclose(session.run(outputs), wanted, atol=1e-5)
        np.testing.assert_allclose(last[1], wanted[-1], atol=1e-6)


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("direction", ["unidirectional", "bidirectional"])
def test_restoring_keeps_the_function(kind, direction, tmp_path):
    outputs, _ = CELLS[kind][0](2, 4, direction=direction, bias_initializer=_random_biases())(X)
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        wanted = session.run(outputs)
        path = saver.save(session, str(tmp_path / "model"))
    with tf.Session() as session:
        saver.restore(session, path)
        np.testing.assert_allclose(session.run(outputs), wanted, atol=1e-5)
    assert wanted.shape == (4, 3, 4 if direction == "unidirectional" else 8)


def test_gradients():
    inputs = tf.constant(X[:, :2].astype("d"))
    layer = cudnn_rnn.CudnnLSTM(1, 2, dtype=tf.float64, direction="bidirectional")
    outputs, (h, c) = layer(inputs)
    loss = tf.reduce_sum(tf.square(outputs)) + tf.reduce_sum(h * c)
    slopes = tf.gradients(loss, [inputs, layer.kernel])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        start, (of_inputs, of_kernel) = session.run([layer.kernel, slopes])
        assert of_inputs.shape == (4, 2, 5)
        for place in (0, 17, len(start) - 1):
            changed = []
            for step in (1e-6, -1e-6):
                moved = start.copy()
                moved[place] += step
                changed.append(session.run(loss, {layer.kernel: moved}))
            np.testing.assert_allclose((changed[0] - changed[1]) / 2e-6, of_kernel[place], rtol=1e-4, atol=1e-8)


def test_training_with_dropout():
    layer = cudnn_rnn.CudnnGRU(2, 8, dropout=0.3, seed=5)
    outputs, _ = layer(tf.constant(X))
    loss = tf.losses.mean_squared_error(tf.ones_like(outputs) * 0.5, outputs)
    step = tf.train.AdamOptimizer(0.02).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, step])[0] for _ in range(40)]
    assert losses[-1] < losses[0] / 3


def test_lengths_of_rows():
    layer = cudnn_rnn.CudnnLSTM(1, 4)
    outputs, (h, _) = layer(
        np.swapaxes(X, 0, 1), sequence_lengths=tf.constant([1, 4, 2]), time_major=False, training=False
    )
    alone, (last, _) = layer(X[:2, 2:3], training=False)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, states, wanted, wanted_state = session.run([outputs, h, alone, last])
    assert found.shape == (3, 4, 4) and states.shape == (3, 1, 4)
    np.testing.assert_allclose(found[2, :2], wanted[:, 0], atol=1e-6)
    np.testing.assert_allclose(found[2, 2:], 0)
    np.testing.assert_allclose(states[2, 0], wanted_state[0, 0], atol=1e-6)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="Invalid direction"):
        cudnn_rnn.CudnnLSTM(1, 4, direction="x")
    with pytest.raises(ValueError, match="Expecting input_shape with 3 dims, got 2"):
        cudnn_rnn.CudnnLSTM(1, 4)(tf.zeros([2, 3]))
    layer = cudnn_rnn.CudnnLSTM(1, 4)
    outputs, _ = layer(tf.constant(X), training=False)
    with pytest.raises(ValueError, match="is_training"):
        tf.gradients(outputs, layer.kernel)


def test_a_layer_may_be_built_without_being_called():
    with tf.Graph().as_default():
        layer = tf.contrib.cudnn_rnn.CudnnLSTM(1, 3)
        layer.build([None, None, 4])
        assert [v.op.name for v in layer.trainable_variables] == ["cudnn_lstm/opaque_kernel"]
