"""`tf.layers.Layer`: what it owns, and what its variables are like."""

import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("own_graph")


class Pair(tf.layers.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second = tf.layers.Dense(3), tf.keras.layers.Dense(2)

    def call(self, x):
        return self.second(self.first(x))


def test_layers_in_attributes_are_not_its_own():
    pair = Pair()
    pair(tf.ones([2, 3]))
    assert pair.weights == [] and pair.losses == []
    assert set(pair.submodules) == {pair.first, pair.second}
    assert [v.name for v in tf.global_variables()][:2] == ["pair/dense/kernel:0", "pair/dense/bias:0"]


def test_the_first_weight_gives_the_dtype():
    layer = tf.layers.Dense(3)
    layer.build([None, 4])
    assert layer.dtype == "float32"
    assert layer(tf.ones([2, 4], tf.float64)).dtype == tf.float32


def test_checkpoints_find_cells_by_their_number(tmp_path):
    cell = tf.nn.rnn_cell.DropoutWrapper(
        tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(2), tf.nn.rnn_cell.BasicRNNCell(3)])
    )
    cell(tf.ones([1, 2]), cell.zero_state(1, tf.float32))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = tf.train.Checkpoint(cell=cell).save(str(tmp_path / "model"))
    names = {name for name, _ in tf.train.list_variables(path)}
    assert "cell/cell/cell-1/kernel/.ATTRIBUTES/VARIABLE_VALUE" in names
    assert "cell/cell/cell-0/gates.Skernel/.ATTRIBUTES/VARIABLE_VALUE" in names


def test_half_precision_is_normalized_with_full_precision_statistics():
    tf.layers.batch_normalization(tf.ones([4, 3], tf.float16), training=True)
    mean = tf.get_default_graph().get_tensor_by_name("batch_normalization/moments/mean:0")
    assert mean.dtype == tf.float32


def test_volumes_with_channels_first_get_one_bias_add():
    outputs = tf.layers.conv3d_transpose(tf.ones([1, 2, 3, 3, 3]), 4, 2, data_format="channels_first")
    assert outputs.op.type == "BiasAdd" and outputs.op.inputs[0].op.type == "Conv3DBackpropInputV2"


def test_what_is_not_a_trainable_variable_is_not_trained():
    def halved(getter, name, *args, **kwargs):
        value = getter(name, *args, **kwargs)
        return value * 0.5 if name.endswith("kernel") else value

    with tf.variable_scope("halved", custom_getter=halved):
        dense = tf.layers.Dense(2)
        dense(tf.ones([2, 3]))
    assert [w.name for w in dense.trainable_weights] == ["halved/dense/bias:0"]
    assert dense.non_trainable_weights == [dense.kernel]
    with tf.variable_scope("cut", partitioner=tf.fixed_size_partitioner(2)):
        dense = tf.layers.Dense(2)
        dense(tf.ones([2, 4]))
    assert not dense.trainable_weights and [w.name for w in dense.weights] == ["cut/dense/kernel", "cut/dense/bias"]
    frozen = tf.layers.Dense(2, trainable=False)
    frozen(tf.ones([2, 3]))
    frozen.trainable = True
    assert not frozen.trainable_weights and len(frozen.weights) == 2


def test_channels_first_are_moved_for_transposed_convolutions():
    y = tf.layers.conv2d_transpose(tf.placeholder(tf.float32, [None, 3, 4, 4]), 2, 3, 2, "same", "channels_first")
    assert y.shape.as_list() == [None, 2, 8, 8]
    assert y.op.inputs[0].op.type == "Transpose" and y.op.inputs[0].op.inputs[0].op.get_attr("data_format") == b"NHWC"


def test_operations_that_were_refused_count_for_seeds():
    tf.set_random_seed(1)
    x = tf.ones([2, 3])
    made = len(tf.get_default_graph().get_operations())
    with pytest.raises(ValueError):
        tf.matmul(x, x)
    shape = tf.constant([2])
    assert len(tf.get_default_graph().get_operations()) == made + 1
    assert tf.random_uniform(shape, name="r").op.inputs[0].op.inputs[0].op.get_attr("seed2") == made + 4


def test_dtypes_of_specs_are_names():
    spec = tf.layers.InputSpec(dtype=tf.float32, shape=[None, 3])
    assert repr(spec) == "InputSpec(dtype=float32, shape=[None, 3], ndim=2)" and spec.get_config()["dtype"] == "float32"
    dense = tf.layers.Dense(2)
    dense(tf.ones([2, 3]))
    dense.input_spec = spec
    with pytest.raises(ValueError, match="dtype"):
        dense(tf.ones([2, 3], tf.float64))
    with pytest.raises(TypeError):
        tf.layers.InputSpec(dtype="nothing")


class _Stack(tf.layers.Layer):
    def __init__(self, layers):
        super().__init__()
        self._layers = layers

    def call(self, x):
        for layer in self._layers:
            x = layer(x)
        return x


def test_a_class_may_keep_its_layers_under_layers():
    with tf.Graph().as_default():
        given = []
        stack = _Stack(given)
        stack._layers.append(tf.layers.Dense(2))
        assert stack._layers is given
        stack(tf.ones([1, 3]))
        assert [v.op.name for v in stack.trainable_weights] == [v.op.name for v in given[0].weights] != []
        assert _Stack(None)._layers is None
