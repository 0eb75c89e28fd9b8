"""Variables of the old kind: a buffer that reads show without a copy."""

import pytest

import everflow as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def nodes(graph):
    return [(n.name, n.op, list(n.input)) for n in graph.as_graph_def().node]


def test_ref_variable_nodes(graph):
    tf.Variable([1.0, 2.0], name="v")
    assert nodes(graph) == [
        ("v/initial_value", "Const", []),
        ("v", "VariableV2", []),
        ("v/Assign", "Assign", ["v", "v/initial_value"]),
        ("v/read", "Identity", ["v"]),
    ]
    assert graph.get_operation_by_name("v/Assign").get_attr("_class") == [b"loc:@v"]


def test_a_view_of_a_variable_can_be_assigned_to_it():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    op = v.assign(tf.transpose(v))
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(op).tolist() == [[1.0, 3.0], [2.0, 4.0]]
        assert sess.run(op).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_a_read_shows_the_buffer_and_a_new_read_waits():
    v = tf.Variable(1.0)
    with tf.control_dependencies([v.assign(5.0)]):
        later = v.read_value()
    assert v.value() is v.value() and later is not v.value()
    assert v.value().op.type == "Identity" and v.dtype._is_ref_dtype
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(later) == 5.0


def test_results_of_changes():
    v = tf.Variable([1.0, 2.0])
    assert v.assign([3.0, 4.0]).op.type == "Assign"
    assert isinstance(v.assign_add([1.0, 1.0], read_value=False), tf.Operation)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(v.assign_sub([1.0, 1.0])).tolist() == [0.0, 1.0]
        assert sess.run(v.scatter_nd_update([[1]], [7.0])).tolist() == [0.0, 7.0]
        assert sess.run(v.scatter_mul(tf.IndexedSlices([3.0], [1]))).tolist() == [0.0, 21.0]
        assert sess.run(v[:1].assign([8.0])).tolist() == [8.0, 21.0]
    assert repr(v) == "<tf.Variable 'Variable:0' shape=(2,) dtype=float32_ref>"


def test_reads_are_cached_on_a_device():
    v = tf.Variable(1.0, caching_device="/cpu:1")
    assert v.value().device == "/device:CPU:1" and v.device == ""


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: tf.Variable(tf.placeholder(tf.float32)), ValueError),
        (lambda: tf.Variable(1.0, name=""), ValueError),
        (lambda: tf.convert_to_tensor(tf.Variable(1.0), tf.int32), ValueError),
    ],
)
def test_what_is_no_variable(build, error):
    with pytest.raises(error):
        build()
