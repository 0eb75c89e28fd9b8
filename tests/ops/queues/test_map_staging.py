"""Staging areas with keys. Expected values are TensorFlow's."""

import pytest

import everflow as tf
from everflow.ops.queues.map_staging import MapStagingArea

pytestmark = pytest.mark.usefixtures("own_graph")


def key(number):
    return tf.constant(number, tf.int64)


def test_whole_elements_by_key_and_any():
    area = MapStagingArea([tf.float32, tf.int32])
    put = area.put(key(3), [tf.constant(1.0), tf.constant(2)], indices=[0, 1])
    taken, size = area.get(), area.size()
    names = [op.name for op in tf.get_default_graph().get_operations()]
    assert names[4:9] == [
        "MapStagingArea_put/indices",
        "MapStagingArea_put",
        "MapStagingArea_get_nokey/indices",
        "MapStagingArea_get_nokey",
        "NoOp",
    ]
    with tf.Session() as session:
        session.run(put)
        assert session.run(size) == 1
        assert session.run(taken) == (3, [1.0, 2])
        assert session.run(size) == 0


def test_ordered_keys_come_in_order():
    area = MapStagingArea([tf.float32], names=["x"], ordered=True)
    taken = area.get()
    with tf.Session() as session:
        for number in (5, 1, 3):
            session.run(area.put(key(number), {"x": tf.constant(float(number))}))
        assert [session.run(taken) for _ in range(3)] == [(1, {"x": 1}), (3, {"x": 3}), (5, {"x": 5})]


def test_elements_in_parts():
    area = MapStagingArea([tf.float32, tf.int32], shapes=[[], []])
    sizes = [area.size(), area.incomplete_size()]
    with tf.Session() as session:
        session.run(area.put(key(1), [tf.constant(1.0)], indices=[0]))
        assert session.run(sizes) == [0, 1]
        session.run(area.put(key(1), [tf.constant(7)], indices=[1]))
        assert session.run(sizes) == [1, 0]
        assert session.run(area.peek(key(1))) == [1.0, 7]
        assert session.run(area.get(key(1), indices=[0])) == (1, [1.0])
        assert session.run(sizes) == [1, 0]
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(area.peek(key(1), indices=[0]))
        session.run(area.clear())
        assert session.run(sizes) == [0, 0]


@pytest.mark.parametrize(
    "put",
    [
        lambda: MapStagingArea([tf.float32], names=["a", "b"]),
        lambda: MapStagingArea([tf.float32], names=["a"]).put(key(1), [tf.constant(1.0)]),
        lambda: MapStagingArea([tf.float32]).put(key(1), [tf.constant(1.0)]),
        lambda: MapStagingArea([tf.float32]).put(key(1), {"a": tf.constant(1.0)}),
        lambda: MapStagingArea([tf.float32, tf.int32]).put(key(1), [tf.constant(1.0), tf.constant(1)], indices=[0]),
        lambda: MapStagingArea([tf.float32]).put(key(1), [tf.constant(1)], indices=[0]),
    ],
)
def test_what_can_not_be_put(put):
    with pytest.raises(ValueError):
        put()
