"""Resource variables: reads are snapshots."""

import pytest

import everflow as tf
from everflow.ops.variables.resource import ResourceVariable, is_resource_variable


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def nodes(graph):
    return [(n.name, n.op, list(n.input)) for n in graph.as_graph_def().node]


def test_resource_variable_nodes(graph):
    tf.Variable(lambda: tf.zeros([2]), name="v", use_resource=True)
    assert nodes(graph) == [
        ("v/Initializer/zeros", "Const", []),
        ("v", "VarHandleOp", []),
        ("v/IsInitialized/VarIsInitializedOp", "VarIsInitializedOp", ["v"]),
        ("v/Assign", "AssignVariableOp", ["v", "v/Initializer/zeros"]),
        ("v/Read/ReadVariableOp", "ReadVariableOp", ["v"]),
    ]


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


def made(value=1.0, **options):
    return tf.Variable(value, use_resource=True, **options)


def test_results_of_changes_are_variables():
    v = made([1.0, 2.0])
    later = v.assign_add([1.0, 1.0])
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(later).tolist() == [2, 3]
        assert sess.run(v.scatter_update(tf.IndexedSlices([7.0], [1]))).tolist() == [2, 7]
        assert sess.run(v.sparse_read([1, 1])).tolist() == [7, 7] and sess.run(v.gather_nd([[0]])).tolist() == [2]
        sess.run(v[1:].assign([9.0]))
        assert sess.run(v).tolist() == [2, 9]
    assert isinstance(v.assign([1.0, 1.0], read_value=False), tf.Operation)


@pytest.mark.parametrize(
    ("use", "error"),
    [
        (lambda v: v.numpy(), NotImplementedError),
        (lambda v: v.set_shape([2]), NotImplementedError),
        (lambda v: v.__iadd__(1.0), RuntimeError),
        (lambda v: v.__imul__(2.0), RuntimeError),
        (lambda v: tf.convert_to_tensor(v, tf.int32), ValueError),
        (lambda v: tf.Variable(1.0, use_resource=True, name=""), ValueError),
    ],
)
def test_what_it_does_not_do(use, error):
    with pytest.raises(error):
        use(made())


def test_definitions_of_the_other_kind():
    plain = tf.Variable(1.0, use_resource=False)
    definition = made().to_proto()
    assert definition.is_resource and not plain.to_proto().is_resource
    with pytest.raises(ValueError):
        ResourceVariable(variable_def=plain.to_proto())
    with pytest.raises(ValueError):
        ResourceVariable(1.0, variable_def=definition)
    assert is_resource_variable(tf.Variable.from_proto(definition)) and not is_resource_variable(plain)
