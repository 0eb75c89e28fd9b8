"""Queues: strings and empty batches, sizes and shapes that don't fit, and queues of one name that differ."""

import threading
import time

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.kernels.queues import queues
from everflow.runtime.state import SessionState, Step
from tests.kernels.feeding import fed


def filled(sess, queue, *columns):
    sess.run(queue.enqueue_many([fed(c) for c in columns]))
    return queue


@pytest.mark.parametrize(
    "kind", [tf.FIFOQueue, tf.PaddingFIFOQueue, lambda *a, **k: tf.RandomShuffleQueue(a[0], 0, *a[1:], **k)]
)
def test_batches_of_nothing(sess, kind):
    queue = kind(10, [tf.float32, tf.string], shapes=[[2], []])
    numbers, words = sess.run(queue.dequeue_many(0))
    assert numbers.shape == (0, 2) and words.shape == (0,)
    filled(sess, queue, np.zeros([0, 2], np.float32), np.zeros([0], str))
    assert sess.run(queue.size()) == 0


def test_strings_of_different_length_are_filled_up(sess):
    queue = tf.PaddingFIFOQueue(5, [tf.string, tf.float32], shapes=[[None], [1, None]])
    for words in (["a"], ["b", "c", "d"]):
        sess.run(queue.enqueue([fed(words), fed([[1.0] * len(words)])]))
    words, numbers = sess.run(queue.dequeue_many(2))
    assert words.tolist() == [[b"a", b"", b""], [b"b", b"c", b"d"]]
    assert numbers.tolist() == [[[1, 0, 0]], [[1, 1, 1]]]


def test_equal_priorities_keep_their_order(sess):
    queue = tf.PriorityQueue(10, [tf.string], [[]])
    filled(sess, queue, np.array([2, 1, 2, 1], np.int64), ["a", "b", "c", "d"])
    assert sess.run(queue.dequeue_many(4))[1].tolist() == [b"b", b"d", b"a", b"c"]


def test_some_stay_while_the_queue_is_open(sess):
    queue = tf.RandomShuffleQueue(10, 2, tf.int32, shapes=[[]])
    filled(sess, queue, [1, 2, 3])
    first = int(sess.run(queue.dequeue()))
    with pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(queue.dequeue(), options=tf.RunOptions(timeout_in_ms=50))
    sess.run(queue.close())
    assert sorted([first, *sess.run(queue.dequeue_many(2)).tolist()]) == [1, 2, 3]


def test_too_few_go_back_in_their_order(sess):
    queue = filled(sess, tf.FIFOQueue(5, tf.int32, shapes=[[]]), [1, 2, 3])
    sess.run(queue.close())
    with pytest.raises(tf.errors.OutOfRangeError, match=r"requested 4, current size 3"):
        sess.run(queue.dequeue_many(4))
    assert sess.run(queue.dequeue_many(3)).tolist() == [1, 2, 3]
    with pytest.raises(tf.errors.OutOfRangeError):
        sess.run(queue.dequeue_up_to(1))


def test_closing(sess):
    queue = tf.FIFOQueue(5, tf.int32, shapes=[[]])
    close, closed = queue.close(), queue.is_closed()
    assert not sess.run(closed)
    sess.run(close)
    assert sess.run(closed)
    with pytest.raises(tf.errors.CancelledError, match="already closed"):
        sess.run(close)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda q: q.enqueue([fed([1.0, 2.0, 3.0])]),
            r"Shape mismatch in tuple component 0. Expected \[2\], got \[3\]",
        ),
        (lambda q: q.enqueue_many([fed([1.0, 2.0])]), "Shape mismatch in tuple component 0"),
        (lambda q: q.dequeue_many(fed(-1)), "requested -1 < 0 elements"),
        (lambda q: tf.FIFOQueue(5, tf.float32).dequeue_many(1), "requires the components to have specified shapes"),
        (lambda q: tf.RandomShuffleQueue(5, 5, tf.float32).size(), "min_after_dequeue 5 must be < capacity 5"),
    ],
)
def test_what_can_not_be(sess, build, message):
    made = build(tf.FIFOQueue(5, tf.float32, shapes=[[2]]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(made)


@pytest.mark.parametrize(
    "other",
    [
        lambda: tf.FIFOQueue(5, tf.int64, shapes=[[]], shared_name="q"),
        lambda: tf.FIFOQueue(5, tf.int32, shapes=[[2]], shared_name="q"),
        lambda: tf.PaddingFIFOQueue(5, tf.int32, shapes=[[]], shared_name="q"),
    ],
)
def test_queues_of_one_name_are_alike(sess, other):
    sess.run(tf.FIFOQueue(5, tf.int32, shapes=[[]], shared_name="q").size())
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(other().size())


def places_of(queue):
    """Where the memory of what waits in a queue lies."""
    return [item[0].data_ptr() for item in queue.items]


@pytest.fixture
def kept(monkeypatch):
    """Queues by the name of the node that made them, as kernels see them."""
    made = {}
    begin = queues.Queue.__init__
    monkeypatch.setattr(
        queues.Queue, "__init__", lambda self, name, *args: made.update({name: self}) or begin(self, name, *args)
    )
    return made


def test_what_a_run_made_goes_in_as_it_is_and_what_others_hold_is_copied(own_graph, kept):
    given = np.arange(4, dtype=np.float32)
    x, v = tf.placeholder(tf.float32, [4]), tf.Variable(given)
    queue = tf.FIFOQueue(20, tf.float32, [[4]])
    constant = tf.constant(given) * 2 + 1
    puts = [queue.enqueue(value) for value in (x, v, constant, constant, tf.identity(v), x * 2)]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for put in puts:
            sess.run(put, {x: given})
        [inside] = kept.values()
        assert len(set(places_of(inside))) == len(puts)
        given[:] = 100
        sess.run(v.assign_add([1.0] * 4))
        found = [sess.run(queue.dequeue()).tolist() for _ in puts]
    plain, folded, doubled = [0, 1, 2, 3], [1, 3, 5, 7], [0, 2, 4, 6]
    assert found == [plain, plain, folded, folded, plain, doubled]


def test_what_waits_does_not_change_with_what_a_run_does_later(own_graph):
    x = tf.placeholder(tf.float32, [4])
    queue = tf.FIFOQueue(20, tf.float32, [[4]])
    made = x * 2
    with tf.control_dependencies([queue.enqueue(made)]):
        more = tf.sqrt(made + 1) * 3
    with tf.Session() as sess:
        sess.run([more, queue.enqueue(made)], {x: [1, 2, 3, 4]})
        taken = queue.dequeue()
        for _ in range(2):
            assert sess.run([taken + 1, taken])[1].tolist() == [2, 4, 6, 8]


def test_who_waits_for_several_is_woken_once(own_graph):
    queue = queues.FIFOQueue("q", [tf.int32], [tf.TensorShape([])], 3)
    step, found = Step(SessionState()), []
    waiting = threading.Thread(target=lambda: found.append(queue.take(5, step)))
    waiting.start()
    while not len(queue.taking):
        time.sleep(0.001)
    for i in range(7):
        queue.put([(torch.tensor(i),)], step)
    waiting.join(20)
    assert [int(item[0]) for item in found[0]] == [0, 1, 2, 3, 4] and [int(i[0]) for i in queue.items] == [5, 6]


def two(kind, first, second):
    """The sizes of two queues of one name, of which the second is described otherwise."""
    with tf.Graph().as_default(), tf.Session() as sess:
        return [sess.run(kind(*args, shared_name="one", **kwargs).size()) for args, kwargs in (first, second)]


def test_shuffling_queues_of_one_name_have_one_seed():
    of = lambda **seed: ((10, 5, tf.float32), seed)  # noqa: E731
    assert two(tf.RandomShuffleQueue, of(seed=3), of(seed=3)) == [0, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="another seeds"):
        two(tf.RandomShuffleQueue, of(seed=3), of(seed=4))
    assert two(tf.RandomShuffleQueue, of(seed=3), of()) == [0, 0]  # none is asked for


def test_padding_queues_of_one_name_have_shapes_that_go_together():
    of = lambda *shape: ((10, tf.float32, [list(shape)]), {})  # noqa: E731
    assert two(tf.PaddingFIFOQueue, of(None), of(3)) == [0, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="another shapes"):
        two(tf.PaddingFIFOQueue, of(None), of(None, 3))


def test_an_element_has_all_components(sess):
    queue = tf.FIFOQueue(3, [tf.int32, tf.int32])
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 components, but 1"):
        sess.run(queue.enqueue(fed(1)))
