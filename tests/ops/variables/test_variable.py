"""Variables of both kinds: nodes, values, changes, refusals, protos."""

import numpy as np
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


def test_resource_variable_nodes(graph):
    tf.Variable(lambda: tf.zeros([2]), name="v", use_resource=True)
    assert nodes(graph) == [
        ("v/Initializer/zeros", "Const", []),
        ("v", "VarHandleOp", []),
        ("v/IsInitialized/VarIsInitializedOp", "VarIsInitializedOp", ["v"]),
        ("v/Assign", "AssignVariableOp", ["v", "v/Initializer/zeros"]),
        ("v/Read/ReadVariableOp", "ReadVariableOp", ["v"]),
    ]


@pytest.mark.parametrize("use_resource", [False, True])
def test_assignments(use_resource):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(v.assign_add([1.0, 1.0])).tolist() == [2.0, 3.0]
        assert sess.run(v.assign_sub([0.5, 0.5])).tolist() == [1.5, 2.5]
        assert sess.run(v.assign([7.0, 8.0], read_value=False)) is None
        assert sess.run(v).tolist() == [7.0, 8.0]
        assert sess.run(v[1:].assign([9.0])).tolist() == [7.0, 9.0]
        v.load([0.0, 1.0], sess)
        assert v.eval(session=sess).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize(
    "kind, expected",
    [
        ("add", [[2.0, 2.0], [6.0, 6.0]]),
        ("sub", [[0.0, 0.0], [-2.0, -2.0]]),
        ("mul", [[1.0, 1.0], [8.0, 8.0]]),
        ("div", [[1.0, 1.0], [0.5, 0.5]]),
        ("update", [[1.0, 1.0], [2.0, 2.0]]),
        ("max", [[1.0, 1.0], [2.0, 2.0]]),
        ("min", [[1.0, 1.0], [2.0, 2.0]]),
    ],
)
def test_scatters_apply_repeated_rows_in_order(use_resource, kind, expected):
    v = tf.Variable([[1.0, 1.0], [2.0, 2.0]], use_resource=use_resource)
    updates = tf.constant([[1.0, 1.0], [2.0, 2.0], [2.0, 2.0]])
    op = getattr(tf, f"scatter_{kind}")(v, [0, 1, 1], updates)
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(op)
        assert sess.run(v).tolist() == expected


@pytest.mark.parametrize("use_resource, read_error, change_error", [
    (False, tf.errors.FailedPreconditionError, tf.errors.FailedPreconditionError),
    (True, tf.errors.FailedPreconditionError, tf.errors.NotFoundError),
])  # fmt: skip
def test_uninitialized(use_resource, read_error, change_error):
    v = tf.Variable(1.0, use_resource=use_resource, name="v")
    with tf.Session() as sess:
        assert not sess.run(tf.is_variable_initialized(v))
        with pytest.raises(read_error):
            sess.run(v)
        with pytest.raises(change_error):
            sess.run(v.assign_add(1.0))
        assert sess.run(tf.report_uninitialized_variables()).tolist() == [b"v"]


def test_a_view_of_a_variable_can_be_assigned_to_it():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    op = v.assign(tf.transpose(v))
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(op).tolist() == [[1.0, 3.0], [2.0, 4.0]]
        assert sess.run(op).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_resource_reads_are_snapshots():
    v = tf.Variable(1.0, use_resource=True)
    before = v.read_value()
    with tf.control_dependencies([before]):
        change = v.assign_add(1.0)
    with tf.control_dependencies([change]):
        after = v.read_value()
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run([before, after]) == [1.0, 2.0]


def test_reads_after_a_change_stand_where_the_program_says():
    v = tf.get_variable("v", initializer=1.0, use_resource=True)
    w = tf.get_variable("w", initializer=1.0, use_resource=True)
    changed = v.assign_add(1.0)
    with tf.colocate_with(w.op):
        assert changed.value().op.colocation_groups() == [b"loc:@w"]
        assert changed.read_value().op.type == "ReadVariableOp"


def test_initial_value_from_another_variable(graph):
    v = tf.Variable(2.0, name="v")
    w = tf.Variable(v * 3.0, name="w")
    with tf.Session() as sess:
        sess.run(w.initializer)
        assert sess.run(w) == 6.0
    assert graph.get_operation_by_name("mul_w").type == "Mul"


def test_protos_round_trip():
    for kind in (False, True):
        v = tf.Variable([1.0], name="v", use_resource=kind)
        again = tf.Variable.from_proto(v.to_proto())
        assert type(again) is type(v)
        assert (again.name, again.op, again.initializer, again.trainable) == (v.name, v.op, v.initializer, True)


def test_refusals():
    with pytest.raises(ValueError, match="initial_value must be specified"):
        tf.Variable()
    with pytest.raises(ValueError, match="must have a shape specified"):
        tf.Variable(tf.placeholder(tf.float32))
    with pytest.raises(ValueError, match="must be a list, tuple, or set"):
        tf.Variable(1.0, collections="c")
    with pytest.raises(TypeError, match="not iterable"):
        iter(tf.Variable(1.0))
    with pytest.raises(RuntimeError, match="assign_add"):
        v = tf.Variable(1.0, use_resource=True)
        v += 1.0


def test_creators_stand_before_the_default_one():
    made = []

    def creator(next_creator, **kwargs):
        made.append(kwargs["name"])
        return next_creator(**{**kwargs, "use_resource": True})

    with tf.variable_creator_scope(creator):
        v = tf.Variable(1.0, name="v")
        w = tf.get_variable("w", [1])
    assert made == ["v", "w"]
    assert v.op.type == w.op.type == "VarHandleOp"


def test_string_and_bool_variables():
    s = tf.Variable(["a", "b"])
    b = tf.Variable([True, False])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(tf.scatter_update(s, [1], ["c"])).tolist() == [b"a", b"c"]
        assert sess.run(tf.scatter_nd_update(b, [[1]], [True])).tolist() == [True, True]


def test_count_up_to():
    v = tf.Variable(0)
    up = v.count_up_to(2)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert [sess.run(up), sess.run(up)] == [0, 1]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(up)


def test_numpy_arrays_leave_operators_to_the_variable():
    v = tf.Variable([1.0, 2.0])
    assert isinstance(np.ones(2, np.float32) * v, tf.Tensor)


@pytest.mark.parametrize("values", [[1.0, 2.0, 3.0], [b"a", b"b"]])
def test_positions_without_an_axis_gather_all_of_a_variable(values):
    with tf.Graph().as_default(), tf.Session() as sess:
        variable = tf.get_variable("v", initializer=tf.constant(values), use_resource=True)
        sess.run(variable.initializer)
        for shape in ([0], [2, 0], [3, 2, 0]):
            positions = np.zeros(shape, np.int32)
            gathered = tf.raw_ops.ResourceGatherNd(
                resource=variable.handle, indices=positions, dtype=variable.dtype.base_dtype
            )
            np.testing.assert_array_equal(
                sess.run(gathered), np.broadcast_to(np.array(values, object), (*shape[:-1], len(values)))
            )
