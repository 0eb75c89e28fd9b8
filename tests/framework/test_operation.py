"""Operations and tensors: edges, attributes, what they print, and what only a value could answer."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework.operation import capture_frames

pytestmark = pytest.mark.usefixtures("own_graph")


def const(name=None):
    return tf.constant(1, name=name)


def test_edges_are_known_at_both_ends():
    x = const("x")
    total = tf.add(x, x, name="total")
    assert x.consumers() == [total.op, total.op]
    inputs = total.op.inputs
    assert list(inputs) == [x, x] and inputs == [x, x] and inputs != [x] and inputs[:1] == [x]
    assert inputs + [total] == [x, x, total] and [total] + inputs == [total, x, x]
    assert total.op.values() == (total,) and total.op.node_def.input == ["x", "x"]
    assert tf.unique([1], name="u")[1].name == "u:1"


def test_what_they_print():
    with tf.device("/cpu:0"):
        known = tf.ones([2, 3], name="known")
    unknown = tf.placeholder(tf.float32, name="unknown")
    assert str(known) == 'Tensor("known:0", shape=(2, 3), dtype=float32, device=/device:CPU:0)'
    assert str(unknown) == 'Tensor("unknown:0", dtype=float32)'
    assert repr(unknown) == "<tf.Tensor 'unknown:0' shape=<unknown> dtype=float32>"
    assert repr(unknown.op) == "<tf.Operation 'unknown' type=Placeholder>"
    assert str(unknown.op).startswith('name: "unknown"\nop: "Placeholder"')


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (len, TypeError),
        (bool, TypeError),
        (list, TypeError),
        (float, TypeError),
        (lambda t: 1 in t, TypeError),
        (np.array, NotImplementedError),
        (lambda t: t.set_shape([3]), ValueError),
        (lambda t: t.eval(), ValueError),
        (lambda t: t.op.run(), ValueError),
    ],
)
def test_what_has_no_answer_before_a_run(ask, error):
    with pytest.raises(error):
        ask(tf.constant([1, 2]))


def test_tensors_are_told_apart_by_identity():
    x, y = const(), const()
    assert x == x and x != y and x != 1 and {x: "mine"}[x] == "mine"
    assert x.experimental_ref() == x.experimental_ref() != y.experimental_ref()
    assert x.experimental_ref().deref() is x and len({x.experimental_ref(), x.experimental_ref()}) == 1


def test_shapes_are_narrowed_step_by_step():
    x = tf.placeholder(tf.int32)
    assert x._shape_tuple() is None and x._rank() is None
    x.set_shape([None, 3])
    x.set_shape([2, None])
    x.set_shape(None)
    assert x.shape.as_list() == x.get_shape().as_list() == [2, 3]
    with pytest.raises(ValueError, match=x.name):
        x.set_shape([2, 4])


def test_attributes():
    op = tf.placeholder(tf.int32, [2]).op
    assert op.get_attr("dtype") == tf.int32 and op.get_attr("shape").dim[0].size == 2
    with pytest.raises(ValueError, match="no attr named 'zz'"):
        op.get_attr("zz")
    op._set_attr("_mine", tf.AttrValue(s=b"x"))
    assert op.get_attr("_mine") == b"x" == op.node_def.attr["_mine"].s
    op._clear_attr("_mine")
    op._clear_attr("_mine")
    assert "_mine" not in op.node_def.attr


def test_an_input_may_be_changed():
    a, b, new = const("a"), const("b"), const("new")
    total = tf.add(a, b)
    total.op._update_input(0, new)
    assert list(total.op.inputs) == [new, b] and a.consumers() == [] and new.consumers() == [total.op]
    with pytest.raises(TypeError):
        total.op._update_input(0, 3)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="another graph"):
        total.op._update_input(0, const())
    tf.get_default_graph().finalize()
    with pytest.raises(RuntimeError):
        total.op._update_input(0, a)


def test_control_inputs_come_once_and_sorted_in_files():
    a, b, later = const("a"), const("b"), const("later")
    later.op._add_control_inputs([b.op, a.op, b.op])
    assert later.op.control_inputs == [b.op, a.op] and later.op.node_def.input == ["^a", "^b"]
    assert a.op._control_outputs == [later.op]
    later.op._remove_all_control_inputs()
    assert later.op.control_inputs == [] and a.op._control_outputs == []
    with pytest.raises(TypeError):
        later.op._add_control_input(3)
    with tf.Graph().as_default(), pytest.raises(ValueError, match="same graph"):
        later.op._add_control_input(const().op)


def test_changes_are_counted_for_those_who_planned_runs():
    graph, op = tf.get_default_graph(), const().op
    changes = [
        lambda: op._set_attr("_a", 1),
        lambda: op._clear_attr("_a"),
        lambda: op._set_device("/cpu:0"),
        lambda: op._add_control_input(const().op),
        op._remove_all_control_inputs,
    ]
    for change in changes:
        before = graph._mutations
        change()
        assert graph._mutations > before


def test_where_it_was_made():
    op = const().op  # this line
    file, _, function, text = op.user_frame
    assert (file, function, text) == (__file__, "const", "return tf.constant(1, name=name)")
    frames = [frame for frame in op.traceback if frame[0] == __file__]
    assert frames[0][3] == "op = const().op  # this line"
    assert op.traceback_with_start_lines[0][:4] == op.traceback[0]
    assert capture_frames()[0][2] == "test_where_it_was_made"


def test_a_shape_rule_has_its_say_before_the_op_joins():
    with pytest.raises(ValueError, match=r"for 'product' \(op: 'MatMul'\) with input shapes: \[2,3\], \[2,3\]"):
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]), name="product")
    unknown = tf.placeholder(tf.float32, [None, 3])
    assert tf.identity(unknown).shape.as_list() == [None, 3]
    assert not tf.identity(unknown).shape == unknown.shape  # a size that isn't known equals only itself


def test_operators_are_installed_once_and_only_those_that_are_known():
    with pytest.raises(ValueError, match="cannot be overwritten"):
        tf.Tensor._override_operator("__add__", None)
    with pytest.raises(ValueError, match="disallowed"):
        tf.Tensor._override_operator("__call__", None)
    installed = {name for name in tf.Tensor.OVERLOADABLE_OPERATORS if name in vars(tf.Tensor)}
    assert installed == tf.Tensor.OVERLOADABLE_OPERATORS


def test_an_input_is_replaced():
    with tf.Graph().as_default():
        doubled = tf.add(tf.constant(1.0), 1.0).op
        doubled._update_input(0, tf.constant(2.0, name="other"))
        assert doubled.inputs[0].op.name == "other"
