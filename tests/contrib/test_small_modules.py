"""tf.contrib.deprecated, tf.contrib.util, tf.contrib.input_pipeline, tf.contrib.autograph, tf.contrib.memory_stats: a
call of each.
"""

import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("own_graph")


def test_summaries_of_2016():
    tf.contrib.deprecated.scalar_summary(["a", "b"], [1.0, 2.0])
    merged = tf.contrib.deprecated.merge_all_summaries()
    assert merged.op.name == "MergeSummary/MergeSummary"
    with tf.Session() as session:
        summary = tf.Summary.FromString(session.run(merged))
    assert [(v.tag, v.simple_value) for v in summary.value] == [("a", 1.0), ("b", 2.0)]
    assert tf.contrib.deprecated.merge_all_summaries("none") is None


def test_op_types_of_a_graph():
    tf.constant(1.0) + 2.0
    graph_def = tf.get_default_graph().as_graph_def()
    assert tf.contrib.util.ops_used_by_graph_def(graph_def) == ["AddV2", "Const"]
    assert [op.name for op in tf.contrib.util.stripped_op_list_for_graph(graph_def).op] == ["AddV2", "Const"]
    graph_def.node.add(name="z", op="NoSuch")
    with pytest.raises(ValueError, match="NoSuch is used by the graph, yet nothing defines it"):
        tf.contrib.util.stripped_op_list_for_graph(graph_def)


def test_strings_in_turn():
    counter = tf.Variable(-1, dtype=tf.int64)
    following = tf.contrib.input_pipeline.obtain_next(tf.constant(["a", "b"]), counter)
    with tf.Session() as session:
        session.run(counter.initializer)
        assert [session.run(following) for _ in range(3)] == [b"a", b"b", b"a"]
        assert session.run(counter) == 0


def test_strings_of_epochs():
    following = tf.contrib.input_pipeline.seek_next(["a", "b"], num_epochs=2)
    mixed = tf.contrib.input_pipeline.seek_next(list("abc"), shuffle=True, seed=1)
    assert not tf.trainable_variables()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run(following) for _ in range(4)] == [b"a", b"b", b"a", b"b"]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(following)
        assert sorted(session.run(mixed) for _ in range(3)) == [b"a", b"b", b"c"]


def test_converted_functions():
    @tf.contrib.autograph.convert()
    def size(x):
        if x > 0:
            return x
        return -x

    with tf.Session() as session:
        assert session.run(size(tf.constant(-2.0))) == 2.0


def test_memory():
    with tf.Session() as session:
        used, most, limit = session.run(
            [
                tf.contrib.memory_stats.BytesInUse(),
                tf.contrib.memory_stats.MaxBytesInUse(),
                tf.contrib.memory_stats.BytesLimit(),
            ]
        )
    assert 0 < used <= limit and 0 < most <= limit
