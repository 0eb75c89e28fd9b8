"""Variables in parts, and partitioners."""

import pytest

import everflow as tf
from everflow.ops.variables.partitioned import PartitionedVariable


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_partitioned():
    p = tf.get_variable("p", [5, 2], partitioner=tf.fixed_size_partitioner(2), initializer=tf.ones_initializer())
    assert [v.shape.as_list() for v in p] == [[3, 2], [2, 2]]
    assert [v._get_save_slice_info().spec for v in p] == ["5 2 0,3:0,2", "5 2 3,2:0,2"]
    whole = tf.convert_to_tensor(p)
    assert whole.name == "p:0"
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(whole).shape == (5, 2)


def test_partitioners():
    shape = tf.TensorShape([40, 4])
    assert tf.fixed_size_partitioner(3, axis=1)(shape=shape, dtype=tf.float32) == [1, 3]
    assert tf.variable_axis_size_partitioner(64)(shape=shape, dtype=tf.float32) == [10, 1]
    assert tf.min_max_variable_partitioner(4, min_slice_size=64)(shape=shape, dtype=tf.float32) == [4, 1]


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_whole_is_changed_part_by_part(axis, use_resource):
    p = tf.get_variable(
        "p", [4, 6], partitioner=tf.fixed_size_partitioner(2, axis=axis), initializer=tf.zeros_initializer(),
        use_resource=use_resource,
    )  # fmt: skip
    value = tf.reshape(tf.range(24.0), [4, 6])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run([tf.identity(t) for t in p.assign(value)])
        sess.run([tf.identity(t) for t in p.assign_add(value)])
        sess.run([tf.identity(t) for t in p.assign_sub([v * 0.5 for v in p])])
        assert sess.run(p.as_tensor()).tolist() == sess.run(value).tolist()
    assert len(p) == 2 and p.shape.as_list() == [4, 6] == p.get_shape().as_list() and p.dtype.base_dtype == tf.float32


def test_one_part_and_gradients():
    p = tf.get_variable("p", [3], partitioner=tf.fixed_size_partitioner(1), initializer=tf.ones_initializer())
    q = tf.get_variable("q", [3], partitioner=tf.fixed_size_partitioner(2), initializer=tf.ones_initializer())
    assert p.as_tensor().op.type == "Identity"
    grads = tf.gradients(tf.convert_to_tensor(q) * [1.0, 2.0, 3.0], list(q))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert [g.tolist() for g in sess.run(grads)] == [[1, 2], [3]]


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda v: PartitionedVariable("p", [2], tf.float32, v, [1]), TypeError),
        (lambda v: PartitionedVariable("p", [2], tf.float32, [v], 1), TypeError),
        (lambda v: PartitionedVariable("p", [2], tf.float32, [v], [0]), ValueError),
        (lambda v: PartitionedVariable("p", [2], tf.float32, [], [1]), ValueError),
        (lambda v: PartitionedVariable("p", [2], tf.float32, [v], [1]), ValueError),
        (lambda v: tf.get_variable("s", [2], partitioner=lambda **_: [1, 1]), ValueError),
        (lambda v: tf.get_variable("s", [2, 2], partitioner=lambda **_: [2, 2]), ValueError),
        (lambda v: tf.get_variable("s", [2], partitioner=lambda **_: 2), ValueError),
        (lambda v: tf.get_variable("s", [2], partitioner=lambda **_: [0]), ValueError),
        (lambda v: tf.get_variable("s", [2], partitioner=3), ValueError),
        (lambda v: tf.variable_axis_size_partitioner(0), ValueError),
        (lambda v: tf.create_partitioned_variables([2, 2], [1], 1.0), ValueError),
        (lambda v: tf.create_partitioned_variables([], [], 1.0), ValueError),
    ],
)
def test_parts_that_cannot_be(build, error):
    with pytest.raises(error):
        build(tf.Variable([1.0, 2.0]))


@pytest.mark.parametrize(
    ("partitioner", "dtype", "expected"),
    [
        (tf.variable_axis_size_partitioner(64, max_shards=3), tf.float32, [3, 1]),
        (tf.variable_axis_size_partitioner(64, axis=1), tf.float32, [1, 4]),
        (tf.variable_axis_size_partitioner(64), tf.string, [40, 1]),
        (tf.variable_axis_size_partitioner(10**9), tf.float32, [1, 1]),
        (tf.min_max_variable_partitioner(100, min_slice_size=1), tf.float32, [40, 1]),
        (tf.min_max_variable_partitioner(100), tf.float32, [1, 1]),
        (tf.fixed_size_partitioner(99), tf.float32, [40, 1]),
    ],
)
def test_numbers_of_parts(partitioner, dtype, expected):
    assert partitioner(shape=tf.TensorShape([40, 4]), dtype=dtype) == expected


@pytest.mark.parametrize("shape", [[10, 3], tf.TensorShape([None]), tf.TensorShape([7])])
def test_partitioners_want_a_known_shape_that_has_the_axis(shape):
    with pytest.raises(ValueError):
        tf.variable_axis_size_partitioner(8, axis=1)(shape, tf.float32)
    with pytest.raises(ValueError):
        tf.min_max_variable_partitioner(axis=5)(shape, tf.float32)
