"""Names of functions that nobody named: TensorFlow's, so that the nodes that call them are."""

import numpy as np
import pytest

import everflow as tf
from everflow.formats.murmur import combined, murmur64
from everflow.ops.functions.defun import Defun
from everflow.ops.functions.hashes import hashed_name
from everflow.protos import function_pb2


def mean(x, y):
    return (x + y) / 2.0


def documented(x):
    """Some words.

    More."""
    return tf.nn.relu(x, name="r")


def strings(x):
    return x + tf.constant([b"ab", b"c"])


def two(x):
    with tf.control_dependencies([tf.no_op(name="n")]):
        return x * 2.0, tf.cast(x, tf.int32)


def loop(x):
    return tf.while_loop(lambda i: i < 10.0, lambda i: i + 1.0, [tf.reduce_sum(x)])


def draws(x):
    return x + tf.random_uniform([3])


@pytest.mark.parametrize(
    "function, types, name",
    [
        (mean, [tf.float32] * 2, "mean_aJ60GK5G9xs"),
        (strings, [tf.string], "strings_"),
        (two, [tf.float32], "two_FXaGX2EvwbU"),
        (loop, [tf.float32], "loop_t768eTYMD6w"),
    ],
)
def test_a_defun_has_the_name_that_tensorflow_gives_it(function, types, name):
    with tf.Graph().as_default():
        assert Defun(*types)(function).name.startswith(name)


def test_functions_of_one_content_have_one_name():
    with tf.Graph().as_default():
        one, same, other = (Defun(tf.float32)(f) for f in (lambda x: -x, lambda x: -x, lambda x: tf.exp(x)))
        assert one.name == same.name != other.name


def test_a_name_does_not_hang_on_the_seed_around():
    names = set()
    for seed in (None, 1, 2):
        with tf.Graph().as_default():
            tf.set_random_seed(seed)
            names.add(Defun(tf.float32)(draws).name)
    assert len(names) == 1


def test_a_description_is_part_of_what_is_hashed():
    with tf.Graph().as_default():
        function = Defun(tf.float32)(documented)
        assert function.definition.signature.description == documented.__doc__
        definition = function_pb2.FunctionDef()
        definition.CopyFrom(function.definition)
        definition.signature.ClearField("description")
        assert hashed_name(definition, "documented") != function.name


def test_datasets_of_one_shot_iterators_have_the_name_that_tensorflow_gives_them():
    with tf.Graph().as_default() as graph:
        values = {"a": np.arange(12.0).reshape(3, 4), "b": [b"x", b"y", b"z"]}
        tf.data.Dataset.from_tensor_slices(values).repeat().make_one_shot_iterator()
        assert [f.signature.name for f in graph.as_graph_def().library.function] == ["_make_dataset_LK5BoX8DKvk"]


def test_large_constants_tell_functions_apart_too():
    def name_of(value):
        with tf.Graph().as_default():
            return Defun()(lambda: tf.constant(np.full(1 << 19, value, np.float32))).name

    assert name_of(1.0) == name_of(1.0) != name_of(2.0)


def test_a_graph_with_functions_says_who_can_read_it():
    with tf.Graph().as_default() as graph:
        assert graph.as_graph_def().versions.min_consumer == 0
        Defun(tf.float32, func_name="same")(lambda x: x)(tf.constant(1.0))
        assert graph.as_graph_def().versions.min_consumer == 12


def test_a_defun_can_not_give_an_operation():
    with tf.Graph().as_default(), pytest.raises(TypeError):
        Defun(tf.float32)(lambda x: tf.no_op()).name  # noqa: B018


def test_hashes_hang_on_seed_and_order():
    assert murmur64(b"words") != murmur64(b"words", 1)
    assert combined(1, 2) != combined(2, 1)
