"""tf.contrib.graph_editor: selecting, copying, rerouting and detaching, on one small graph."""

import types

import numpy as np
import pytest

import everflow as tf
from everflow.contrib import graph_editor as ge


@pytest.fixture
def parts():
    """a, b → c = a + b → d = c * b → e (after c) → f = sqrt(e)."""
    with tf.Graph().as_default() as graph:
        with tf.name_scope("in"):
            a, b = tf.constant([1.0, 2.0], name="a"), tf.constant([3.0, 4.0], name="b")
        with tf.name_scope("mid"):
            c = tf.add(a, b, name="c")
            d = tf.multiply(c, b, name="d")
            with tf.control_dependencies([c]):
                e = tf.identity(d, name="e")
        f = tf.sqrt(e, name="out/f")
        yield types.SimpleNamespace(a=a, b=b, c=c, d=d, e=e, f=f, graph=graph)


def _names(items):
    return [item.name for item in items]


def test_selecting(parts):
    g = parts.graph
    assert _names(ge.select_ops("^mid/", graph=g)) == ["mid/c", "mid/d", "mid/e"]
    assert _names(ge.select_ts("mid/[cd]", graph=g)) == ["mid/c:0", "mid/d:0"]
    ops, ts = ge.select_ops_and_ts("mid/c", "(?#ts)mid/d:0", graph=g)
    assert (_names(ops), _names(ts)) == (["mid/c"], ["mid/d:0"])
    assert _names(ge.select_ops(g, positive_filter=lambda op: op.type == "Const")) == ["in/a", "in/b"]
    with pytest.raises(ValueError, match="Use the keyword argument 'graph'"):
        ge.select_ops("x")
    with pytest.raises(TypeError):
        ge.select_ops(3, graph=g)


def test_walks(parts):
    assert set(_names(ge.get_backward_walk_ops([parts.d]))) == {"mid/d", "mid/c", "in/a", "in/b"}
    assert _names(ge.get_forward_walk_ops([parts.c.op], inclusive=False)) == ["mid/d", "mid/e", "out/f"]
    assert _names(ge.get_walks_intersection_ops([parts.c.op], [parts.e.op])) == ["mid/c", "mid/d", "mid/e"]
    within = ge.get_within_boundary_ops(parts.graph.get_operations(), [parts.d.op], [parts.f.op, parts.c.op])
    assert _names(within) == ["in/b", "mid/c", "mid/d", "mid/e", "out/f"]
    assert _names(ge.ControlOutputs(parts.graph).get(parts.c.op)) == ["mid/e"]


def test_views(parts):
    view = ge.sgv_scope("mid", graph=parts.graph)
    assert _names(view.inputs) == ["in/a:0", "in/b:0"] and _names(view.outputs) == ["mid/e:0"]
    assert _names(view.remap_inputs([1]).inputs) == ["in/b:0"]
    assert view.remap_inputs([1]).remap_default() == view
    with pytest.raises(ValueError, match="Out of"):
        view.remap_inputs([5])
    assert ge.sgv(parts.c).is_passthrough(parts.c)


def test_copies(parts):
    copied, info = ge.copy(ge.sgv_scope("mid", graph=parts.graph), dst_scope="new")
    assert _names(copied.ops) == ["new/mid/c", "new/mid/d", "new/mid/e"]
    assert _names(copied.op(0).inputs) == ["new/geph__a_0:0", "new/geph__b_0:0"]
    assert _names(copied.op(2).control_inputs) == ["new/mid/c"]
    assert info.transformed(parts.c).name == "new/mid/c:0"
    assert info.original(info.transformed(parts.c)) is parts.c
    other = tf.Graph()
    assert _names(ge.copy(parts.c.op, dst_graph=other)[0].ops) == ["mid/c"]


def test_replacing_what_is_inside(parts):
    z = tf.constant([9.0, 9.0])
    with tf.Session() as session:
        replaced = ge.graph_replace({"f": parts.f, "a": parts.a}, {parts.c: z})
        assert replaced["a"] is parts.a
        np.testing.assert_allclose(session.run(replaced["f"]), np.sqrt([27.0, 36.0]), rtol=1e-6)
        with pytest.raises(ValueError, match="not connected"):
            ge.graph_replace(parts.a, {parts.c: z})


def test_replacing_around_a_loop():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(1.0)
        y = tf.while_loop(lambda v: v < 100.0, lambda v: v * 2.0, [tf.identity(x)])
        doubled = ge.graph_replace(y, {x: tf.constant(3.0)})
        assert session.run([y, doubled]) == [128.0, 192.0]


def test_rerouting(parts):
    assert ge.reroute_ts([parts.a], [parts.c]) == 1
    assert _names(parts.d.op.inputs) == ["in/a:0", "in/b:0"]
    ge.swap_ts([parts.b], [parts.d], cannot_modify=[parts.c.op])
    assert _names(parts.d.op.inputs) == ["in/a:0", "mid/d:0"] and _names(parts.e.op.inputs) == ["in/b:0"]
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(parts.f), np.sqrt([3.0, 4.0]), rtol=1e-6)
    with pytest.raises(ValueError, match="different sizes"):
        ge.reroute_ts([parts.a, parts.b], [parts.c])


def test_control_inputs(parts):
    ge.remove_control_inputs(parts.e.op, parts.c.op)
    assert parts.e.op.control_inputs == []
    ge.add_control_inputs(parts.f.op, [parts.a.op])
    with pytest.raises(ValueError, match="already a control_input"):
        ge.add_control_inputs(parts.f.op, [parts.a.op])
    with pytest.raises(ValueError, match="is not a control_input"):
        ge.remove_control_inputs(parts.e.op, parts.a.op)


def test_taking_out(parts):
    view, inputs, outputs = ge.detach(ge.sgv(parts.d.op, parts.e.op), control_inputs=True)
    assert (_names(inputs), _names(outputs)) == (["mid/geph__c_0:0", "in/geph__b_0:0"], ["mid/geph__e_0:0"])
    assert _names(view.inputs) == _names(inputs) and parts.e.op.control_inputs == []
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(parts.e, {inputs[0]: [1, 1], inputs[1]: [2, 3]}), [2, 3])


def test_bypass_and_connect(parts):
    ge.bypass(parts.e.op)
    assert _names(parts.f.op.inputs) == ["mid/d:0"]
    ge.connect(parts.a.op, parts.f.op)
    assert _names(parts.f.op.inputs) == ["in/a:0"]


def test_handlers(parts):
    def squares_for_roots(info, op, new_inputs):
        if op.type != "Sqrt":
            return ge.copy_op_handler(info, op, new_inputs)
        with info.graph_.as_default():
            made = tf.square(new_inputs[0])
        return made.op, made.op.outputs

    transformer = ge.Transformer()
    transformer.transform_op_handler = squares_for_roots
    transformer.transform_external_input_handler = ge.keep_t_if_possible_handler
    tf.add_to_collection("mine", parts.e)
    _, info = transformer(ge.sgv(parts.e.op, parts.f.op), parts.graph, "new")
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(info.transformed(parts.f)), np.square([12.0, 24.0]))
    assert tf.get_collection("new/mine") == [info.transformed(parts.e)]


def test_what_a_copy_gives_is_what_nothing_inside_of_it_takes():
    a = tf.constant([1.0], name="a")
    b = tf.add(a, a, name="b")
    c = tf.add(b, b, name="c")
    tf.negative(b)
    inputs, outputs, inside = ge.compute_boundary_ts([b.op, c.op])
    assert (inputs, outputs, inside) == ([a], [b, c], [b])
    copied, _ = ge.copy(ge.sgv(b.op, c.op), dst_scope="copy")
    assert [t.name for t in copied.outputs] == ["copy/c:0"]
