"""The variables that get_variable made, by name."""

import pytest

import everflow as tf
from everflow.ops.variables.store import PartitionInfo, VariableStore, default_store, get_variable_store


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_defaults_and_regularizers():
    with tf.variable_scope(
        "s", initializer=tf.ones_initializer(), regularizer=lambda v: tf.reduce_sum(v, name="loss"), dtype=tf.float64
    ):
        v = tf.get_variable("v", [2])
    assert v.dtype.base_dtype == tf.float64
    (loss,) = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert loss.name == "s/v/Regularizer/loss:0"
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(loss) == 2.0


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: tf.get_variable("v", [2]), ValueError),
        (lambda: tf.get_variable("w", initializer=[1.0], shape=[1]), ValueError),
        (lambda: tf.get_variable("w"), ValueError),
        (lambda: tf.get_variable("w", [None]), ValueError),
        (lambda: tf.get_variable("w", [2], initializer=lambda: 1.0, custom_getter=3), ValueError),
    ],
)
def test_variables_that_cannot_be_made(build, error):
    tf.get_variable("v", [2])
    with pytest.raises(error):
        build()


@pytest.mark.parametrize(("shape", "dtype"), [([3], tf.float32), ([2], tf.int32)])
def test_what_is_shared_must_be_alike(shape, dtype):
    tf.get_variable("v", [2])
    with tf.variable_scope("", reuse=True), pytest.raises(ValueError):
        tf.get_variable("v", shape, dtype)


def test_parts_are_shared_as_parts():
    cut = tf.fixed_size_partitioner(2)
    whole = tf.get_variable("p", [4], partitioner=cut)
    with tf.variable_scope("", reuse=True):
        assert list(tf.get_variable("p", [4], partitioner=cut)) == list(whole)
        with pytest.raises(ValueError):
            tf.get_variable("p", [4], partitioner=tf.fixed_size_partitioner(3))
        with pytest.raises(ValueError):
            tf.get_variable("q", [4], partitioner=cut)
    tf.get_variable("one", [4])
    with tf.variable_scope("", reuse=True), pytest.raises(ValueError):
        tf.get_variable("one", [4], partitioner=cut)


def test_initializers_are_told_of_their_part():
    told = []

    def initializer(shape, dtype=None, partition_info=None):
        told.append(
            (list(shape), partition_info.full_shape, partition_info.var_offset, partition_info.single_offset(shape))
        )
        return tf.zeros(shape, dtype)

    tf.get_variable("p", [5, 2], initializer=initializer, partitioner=tf.fixed_size_partitioner(2))
    assert told == [([3, 2], [5, 2], [0, 0], 0), ([2, 2], [5, 2], [3, 0], 3)]


def test_where_a_part_begins():
    info = PartitionInfo([4, 6], [0, 3])
    assert info.single_slice_dim([4, 3]) == 1 and info.single_offset([4, 3]) == 3
    assert PartitionInfo([4, 6], [0, 0]).single_offset([4, 6]) == 0
    for shape in ([2, 3], [4], 3, [4, 6]):
        with pytest.raises((TypeError, ValueError)):
            info.single_slice_dim(shape)
    for arguments in (([4], [4]), ([4], [-1]), ([4], [0, 0]), (4, [0])):
        with pytest.raises((TypeError, ValueError)):
            PartitionInfo(*arguments)


def test_a_store_of_its_own():
    mine = VariableStore()
    with default_store(mine):
        inside = tf.get_variable("v", [2])
        assert get_variable_store() is mine
    assert get_variable_store() is not mine
    assert tf.get_variable("v", [2]) is not inside


@pytest.mark.parametrize(("dtype", "expected"), [(tf.int32, 0), (tf.bool, False)])
def test_defaults_of_other_types(dtype, expected):
    v = tf.get_variable("v", [], dtype)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(v) == expected


def test_creators_are_told_the_kind_of_a_variable():
    told = []

    def creator(next_creator, **options):
        told.append(options["use_resource"])
        return next_creator(**options)

    with tf.Graph().as_default(), tf.variable_creator_scope(creator):
        tf.get_variable("ref", [])
        tf.get_variable("resource", [], use_resource=True)
        tf.Variable(1.0)
    assert told == [False, True, None]
