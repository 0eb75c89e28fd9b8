"""Functions that are called on another task."""

import pytest

import everflow as tf
from everflow.ops.functions.calls import remote_call
from everflow.ops.functions.defun import Defun

_THERE = "/job:worker/replica:0/task:1/cpu:0"
_HERE = "/job:worker/replica:0/task:0/cpu:0"


def test_arguments_and_results_of_all_kinds_travel(cluster):
    @Defun(tf.string, tf.float32)
    def f(text, x):
        return tf.strings.join([text, "!"]), x * 2.0, x > 1.0

    target = cluster(worker=2).target("worker")
    with tf.device(_HERE):
        made = remote_call(
            args=[tf.constant(["a", "b"]), tf.constant([1.0, 2.0])],
            Tout=[tf.string, tf.float32, tf.bool],
            f=f,
            target=_THERE,
        )
    with tf.Session(target) as sess:
        text, doubled, large = sess.run(made)
    assert text.tolist() == [b"a!", b"b!"] and doubled.tolist() == [2, 4] and large.tolist() == [False, True]


@pytest.mark.parametrize("in_a_dataset", [False, True])
def test_an_iterator_of_another_task_by_its_handle(cluster, in_a_dataset):
    with tf.device(_THERE):
        handle = tf.data.Dataset.from_tensor_slices([7, 8]).make_one_shot_iterator().string_handle()

    @Defun(tf.string)
    def following(name):
        return tf.data.Iterator.from_string_handle(name, tf.int32, []).get_next()

    def call(_=None):
        return remote_call(args=[handle], Tout=[tf.int32], f=following, target=place)[0]

    target = cluster(worker=2).target("worker")
    with tf.device(_HERE):
        place = tf.placeholder_with_default(_THERE, [])
        if in_a_dataset:
            iterator = tf.data.Dataset.range(9).map(call).make_initializable_iterator()
            element, start = iterator.get_next(), iterator.initializer
        else:
            element, start = call(), tf.no_op()
    with tf.Session(target) as sess:
        sess.run(start)
        assert [sess.run(element) for _ in range(2)] == [7, 8]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(element)
        if not in_a_dataset:
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(element, {place: _HERE})


def test_a_failure_there_and_a_task_that_is_not_there(cluster):
    @Defun(tf.int32)
    def f(x):
        with tf.control_dependencies([tf.assert_equal(x, 4)]):
            return tf.identity(x)

    target = cluster(worker=2).target("worker")
    fails = remote_call(args=[3], Tout=[tf.int32], f=f, target=_THERE)
    nowhere = remote_call(args=[4], Tout=[tf.int32], f=f, target="/job:worker/replica:0/task:5/cpu:0")
    with tf.Session(target) as sess:
        for op in (fails, nowhere):
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(op)


def test_devices_of_one_process():
    with tf.device("/cpu:1"):
        handle = tf.data.Dataset.range(3).make_one_shot_iterator().string_handle()
    with tf.device("/cpu:0"):
        elsewhere = tf.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
    with tf.device("/cpu:1"):
        iterator = tf.data.Iterator.from_string_handle(handle, tf.int64, [])
        assert tf.data.Iterator.from_structure(tf.int64)._iterator_resource.device == "/device:CPU:1"
        beside = iterator.get_next()
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        assert sess.run(beside) == 0
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(elsewhere)
