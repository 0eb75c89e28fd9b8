"""tf.contrib's Defun: graph functions with types declared by the program."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.functions import defun as function
from everflow.ops.functions.defun import Defun

pytestmark = pytest.mark.usefixtures("own_graph")


def test_a_variable_s_type_may_declare_an_argument():
    v = tf.get_variable("v", [2], initializer=tf.ones_initializer())

    @Defun(v.dtype, tf.float32)
    def add(a, b):
        assert a.dtype == tf.float32
        return a + b

    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_allclose(sess.run(add(v, tf.constant([1.0, 2.0]))), [2.0, 3.0])


def test_loops_in_a_function_run_and_have_gradients():
    @Defun(tf.float32, func_name="Grow")
    def grow(a):
        shapes = [tf.TensorShape([]), tf.TensorShape(None)]
        return tf.while_loop(
            lambda i, v: i < 2, lambda i, v: (i + 1, tf.concat([v, v * 3.0], 0)), [0, a], shape_invariants=shapes
        )[1]

    x = tf.placeholder(tf.float32, [1])
    y = grow(x)
    (dx,) = tf.gradients(y, x)
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(y, {x: [2.0]}), [2.0, 6.0, 6.0, 18.0])
        np.testing.assert_allclose(sess.run(dx, {x: [2.0]}), [16.0])
    # The derivative was made to run it, and is no function of the graph's own; what is loaded runs as well.
    definition = tf.get_default_graph().as_graph_def()
    assert [f.signature.name for f in definition.library.function] == ["Grow"]
    with tf.Graph().as_default(), tf.Session() as sess:
        (loaded,) = tf.import_graph_def(definition, return_elements=["Grow:0"])
        np.testing.assert_allclose(sess.run(loaded, {f"import/{x.name}": [1.0]}), [1.0, 3.0, 3.0, 9.0])


@pytest.mark.parametrize("times", [1, 3])
def test_a_python_function_in_a_loop_is_differentiated_call_by_call(times):
    x = tf.placeholder(tf.float32, [])
    y = tf.while_loop(
        lambda i, v: i < times,
        lambda i, v: (i + 1, tf.reshape(tf.py_function(lambda q: q * q, [v], tf.float32), [])),
        [0, x],
    )[1]
    (dx,) = tf.gradients(y, x)
    power = 2**times
    with tf.Session() as sess:
        assert sess.run(dx, {x: 1.5}) == pytest.approx(power * 1.5 ** (power - 1))
        assert sess.run([dx, y], {x: 1.5}) == pytest.approx([power * 1.5 ** (power - 1), 1.5**power])


def test_options_of_functions_and_calls_are_their_attributes():
    f = Defun(tf.float32, func_name="F", noinline=True, compiled=True, experimental_level=3)(lambda a: a + 1.0)
    plain, marked = f(tf.constant(1.0)), f(tf.constant(1.0), noinline=False)
    attrs = f.definition.attr
    assert (
        attrs["_noinline"].b
        and attrs["_XlaCompile"].b
        and attrs["_XlaScope"].s == b"function_F"
        and attrs["experimental_level"].i == 3
    )
    assert "_noinline" not in plain.op.node_def.attr and "_noinline" in marked.op.node_def.attr
    with pytest.raises(ValueError, match="Unknown keyword arguments: inline"):
        f(tf.constant(1.0), inline=True)
    with pytest.raises(ValueError, match="Unknown keyword arguments: inline"):
        Defun(tf.float32, inline=True)(lambda a: a)(tf.constant(1.0))


def test_names_of_functions_and_results_are_unique():
    x = tf.constant(1.0)
    Defun(tf.float32, func_name="Same")(lambda a: a)(x)
    Defun(tf.float32, func_name="Same")(lambda a: a)(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="different function with the same name"):
        Defun(tf.float32, func_name="Same")(lambda a: a + 1.0)(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="op with the same name"):
        Defun(tf.float32, func_name="MatMul")(lambda a: a)(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="duplicate output names"):
        Defun(tf.float32, func_name="Twice", out_names=["o", "o"])(lambda a: (a, a))(x)


def test_a_function_without_declared_types_is_named_after_those_it_is_called_with():
    f = Defun(func_name="F")(lambda a, b: a)
    assert f(1.0, "text").op.type == "F_f32s"
    assert f(tf.constant(1, tf.uint16), True).op.type == "F_u16b"
    with pytest.raises(ValueError, match="Unsupported dtypes"):
        f(tf.placeholder(tf.resource), 1)


def test_captured_arguments_are_placeholders():
    outside = tf.constant(2.0, name="outside")
    f = Defun(tf.float32, func_name="F")(lambda a: a * outside)
    f(tf.constant(1.0))
    assert [arg.name for arg in f.definition.signature.input_arg] == ["a", "mul_placeholder"]


def test_a_function_without_types_can_be_had_for_types():
    @function.Defun()
    def gradient(x, dy):
        return x * dy

    @function.Defun(grad_func=gradient)
    def doubled(x):
        """Twice x."""
        return x * 2.0

    with tf.Graph().as_default():
        made = doubled.instantiate([tf.float64])
        assert made.definition.signature.description == "Twice x."
        assert made.grad_func_name == gradient.instantiate([tf.float64, tf.float64]).name
        x = tf.constant(3.0)
        with tf.Session() as sess:
            assert sess.run(tf.gradients(doubled(x), x)) == [3.0]


def test_functions_come_back_from_a_library():
    @function.Defun(tf.float32, tf.float32)
    def gradient(x, dy):
        return x * dy

    @function.Defun(tf.float32, grad_func=gradient)
    def exp(x):
        return tf.exp(x)

    with tf.Graph().as_default() as graph:
        exp(1.0)
        library = graph.as_graph_def().library
    with tf.Graph().as_default(), tf.Session() as sess:
        made = {each.name: each for each in function.from_library(library)}
        assert made[exp.name].grad_func_name == gradient.name
        x = tf.constant(2.0)
        assert sess.run(tf.gradients(made[exp.name](x), x)) == [2.0]
    library.gradient.add(function_name=gradient.name, gradient_func=exp.name)
    with pytest.raises(ValueError, match="circle"):
        function.from_library(library)


@pytest.mark.parametrize("value", [None, [1]])
def test_options_that_are_no_attributes_are_refused(value):
    with tf.Graph().as_default(), pytest.raises(ValueError, match="experimental_tag"):
        function.Defun(tf.int32, experimental_tag=value)(lambda x: x)(1)


def test_a_body_is_on_the_innermost_device_of_where_the_function_was_made():
    with tf.device("/job:worker"), tf.device("/cpu:0"):

        @Defun(tf.float32)
        def add(a):
            return a + 1.0

    add(tf.constant(1.0))
    (definition,) = tf.get_default_graph().as_graph_def().library.function
    assert {node.device for node in definition.node_def} == {"/device:CPU:0"}
