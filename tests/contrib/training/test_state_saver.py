"""Long sequences in segments, with the state of a network carried from one to the next."""

import numpy as np
import pytest

import everflow as tf

LENGTHS = [7, 3, 4, 9, 1]

pytestmark = pytest.mark.usefixtures("own_graph")


def _source():
    """(key, sequence, length) of a few sequences, and a function that puts them in."""
    queue = tf.FIFOQueue(10, [tf.string, tf.float32, tf.int32])
    parts = tf.placeholder(tf.string), tf.placeholder(tf.float32), tf.placeholder(tf.int32)
    enqueue, close = queue.enqueue(parts), queue.close()
    key, sequence, length = queue.dequeue()
    key.set_shape([])
    sequence.set_shape([None, 2])
    length.set_shape([])

    def put(sess):
        for i, steps in enumerate(LENGTHS):
            sess.run(enqueue, dict(zip(parts, (f"k{i}", np.full([steps, 2], i + 1.0), steps))))
        sess.run(close)

    return (key, sequence, length), put


class _Sum(tf.nn.rnn_cell.RNNCell):
    """Adds its inputs up: the state says what it has seen."""

    state_size = output_size = 2

    def call(self, inputs, state):
        return state + inputs, state + inputs


def test_states_go_from_segment_to_segment():
    (key, sequence, length), put = _source()
    batch = tf.contrib.training.batch_sequences_with_states(
        key,
        {"x": sequence},
        {"length": length},
        length,
        {"total": tf.zeros([2])},
        num_unroll=3,
        batch_size=2,
        num_threads=1,
        capacity=10,
    )
    inputs = tf.unstack(batch.sequences["x"], num=3, axis=1)
    _, state = tf.nn.static_state_saving_rnn(_Sum(), inputs, batch, "total", batch.length)
    fetches = [
        batch.key,
        batch.next_key,
        batch.length,
        batch.sequence,
        batch.sequence_count,
        batch.context["length"],
        state,
    ]
    seen = {}
    with tf.Session() as sess:
        put(sess)
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                for name, *rest in zip(*sess.run(fetches)):
                    seen[name] = rest
        coord.request_stop()
        coord.join(threads)
    assert len(seen) == sum(-(-steps // 3) for steps in LENGTHS)
    for name, (next_name, steps, index, count, whole, total) in seen.items():
        number = int(name[-1:])
        assert name == b"%05d_of_%05d:k%d" % (index, count, number)
        assert next_name == (
            b"STOP:k%d" % number if index + 1 == count else b"%05d_of_%05d:k%d" % (index + 1, count, number)
        )
        assert whole == LENGTHS[number]
        assert steps == min(3, whole - 3 * index)
        np.testing.assert_allclose(total, (number + 1.0) * (3 * index + steps))


def test_names_and_components():
    saver = _saver()
    batch = saver.next_batch
    assert saver.name == "InputQueueingStateSaver/"
    assert saver.prefetch_op.name == "InputQueueingStateSaver/StateSaverPrefetchGroup"
    assert batch.key.name == "InputQueueingStateSaver/BarrierTakeMany:1"
    assert batch.sequences["x"].shape.as_list() == [2, 3, 5]
    assert batch.state("h").shape.as_list() == [2, 4]
    assert (
        batch.save_state("h", batch.state("h") + 1.0).name == "InputQueueingStateSaver_SaveState/BarrierInsertState_h"
    )
    assert saver.close().name == "SQSSClose"
    assert saver.next_batch is batch


def _saver(**changes):
    arguments = {
        "batch_size": 2,
        "num_unroll": 3,
        "input_length": tf.placeholder(tf.int32, []),
        "input_key": tf.placeholder(tf.string, []),
        "input_sequences": {"x": tf.placeholder(tf.float32, [None, 5])},
        "input_context": {"c": tf.placeholder(tf.string, [])},
        "initial_states": {"h": tf.zeros([4])},
    }
    return tf.contrib.training.SequenceQueueingStateSaver(**{**arguments, **changes})


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"capacity": 1}, ValueError),
        ({"input_sequences": {}}, ValueError),
        ({"initial_states": {}}, ValueError),
        ({"initial_states": None}, TypeError),
        ({"input_length": np.int64(3)}, TypeError),
        ({"input_key": 5}, TypeError),
        ({"input_context": {"a:b": 1.0}}, ValueError),
        ({"input_sequences": {1: [1.0, 2.0, 3.0]}}, TypeError),
        ({"input_length": [1, 2]}, ValueError),
    ],
)
def test_wrong_arguments(changes, error):
    with pytest.raises(error):
        _saver(**changes)


def test_wrong_states():
    batch = _saver().next_batch
    with pytest.raises(KeyError):
        batch.state("other")
    with pytest.raises(KeyError, match="not declared"):
        batch.save_state("other", 1.0)
    with pytest.raises(ValueError, match="Shape check failed"):
        batch.save_state("h", tf.zeros([3, 4]))


def test_sequences_that_are_no_whole_segments_are_refused_without_padding():
    batch = tf.contrib.training.batch_sequences_with_states(
        "key", {"x": tf.placeholder_with_default([1.0, 2.0], [None])}, {}, 2, {"h": tf.zeros([1])}, 3, 1, pad=False
    )
    prefetch = tf.get_default_graph().get_operation_by_name(
        "batch_sequences_with_states/InputQueueingStateSaver/StateSaverPrefetchGroup"
    )
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="multiple of: 3"):
        sess.run(prefetch)
    assert batch.batch_size is not None
