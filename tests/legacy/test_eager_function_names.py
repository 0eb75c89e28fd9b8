"""Names of `eager.function`, `eager.lift_to_graph` and `framework.func_graph`."""

import pytest

import everflow as tf
import tests.served  # noqa: F401
from everflow.eager.mode import eager_mode

# isort: split
from tensorflow.python import pywrap_tensorflow
from tensorflow.python.eager import backprop, context, execute, function, lift_to_graph
from tensorflow.python.framework import func_graph


@pytest.fixture(autouse=True)
def _eagerly():
    with eager_mode():
        yield


def test_what_a_function_keeps_of_its_traces():
    same = function.defun(lambda x: x)
    for x in (tf.constant(1), tf.constant(2), tf.constant([1.0]), 3):
        same(x)
    assert len(same._function_cache.primary) == len(same._function_cache.all_values()) == 3
    relaxed = function.defun(lambda x: x + 1.0, experimental_relax_shapes=True)
    for n in range(1, 5):
        relaxed(tf.zeros([n]))
    assert len(relaxed._function_cache.all_values()) == 2 and len(relaxed._function_cache.arg_relaxed) == 1


def test_decorated_before_the_first_call():
    f = tf.function(lambda x: x + 1.0)
    f._decorate(lambda inner: lambda x: inner(x) * 10.0)
    assert f(tf.constant(1.0)).numpy() == 20.0
    with pytest.raises(ValueError, match="before"):
        f._decorate(lambda inner: inner)
    assert len(f._list_all_concrete_functions_for_serialization()) == 1


def test_functions_with_attributes_and_registered():
    marked = function.defun_with_attributes(lambda x: x, attributes={"experimental_1": "value", "experimental_2": 2})
    with tf.Graph().as_default() as graph:
        function.register(marked, tf.constant(1.0))
        made = graph.as_graph_def().library.function[0]
        assert made.attr["experimental_1"].s == b"value" and made.attr["experimental_2"].i == 2
        assert not any(op.type.endswith("Call") for op in graph.get_operations())
        with pytest.raises(ValueError, match="defun"):
            function.register(lambda x: x, tf.constant(1.0))
        with pytest.raises(ValueError, match="experimental_1"):
            function.defun_with_attributes(lambda x: x, attributes={"experimental_1": [1]})(tf.constant(1.0))


def test_a_body_of_a_python_function():
    specs = [tf.TensorSpec([], tf.float32, name="q")]
    body = func_graph.func_graph_from_py_func("twice", lambda x, y: (x * 2.0, [y]), specs, {"y": tf.constant(1)})
    assert [t.op.name for t in body.inputs] == ["q", "y"] and body.name == "twice"
    assert [t.dtype for t in body.outputs] == [tf.float32, tf.int32] and body.structured_outputs[1] == [body.outputs[1]]
    assert body.structured_input_signature[0][0].dtype == tf.float32


def test_lifting():
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    trace = tf.function(lambda: v + w).get_concrete_function()
    other = func_graph.FuncGraph("other")
    made = lift_to_graph.lift_to_graph(trace.outputs, other, add_sources=True, handle_captures=True)
    assert made[trace.outputs[0]].graph is other
    assert [a is b for a, b in zip(other.external_captures, trace.graph.external_captures)] == [True, True]
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [])
        y = x * 2.0
    with pytest.raises(lift_to_graph.UnliftableError, match="Placeholder"):
        lift_to_graph.lift_to_graph([y], tf.Graph(), disallowed_placeholders=[x.op])
    copied = lift_to_graph.lift_to_graph([y], tf.Graph(), sources=[x])
    assert copied[y].op.inputs[0] is copied[x]


def test_kinds_of_attributes_and_callbacks():
    assert backprop.make_attr([pywrap_tensorflow.TF_ATTR_TYPE], [1]) == [tf.float32]
    told = []
    context.context().add_post_execution_callback(lambda *call: told.append(call[0]))
    tf.constant(1.0) * 2.0
    context.context().clear_post_execution_callbacks()
    assert told == ["Mul"] and context.context().post_execution_callbacks == []
    with pytest.raises(ValueError, match="params"):
        backprop.gradients_function(lambda x, y: x * y, ["y", 0])(2.0, 3.0)


def test_ops_run_by_their_types():
    x = tf.constant([[2.0]])
    handle, place = context.context()._handle, context.context().device_name
    made = pywrap_tensorflow.TFE_Py_FastPathExecute(
        handle, place, "MatMul", None, None, x, x, "transpose_a", False, "transpose_b", False
    )
    assert made.numpy().tolist() == [[4.0]]
    for inputs, attrs, error in (([x], ("T", 1), "inputs"), ([x, x], ("T",), "short")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=error):
            execute.execute(b"Mul", 1, inputs, attrs, context.context())
    with pytest.raises(TypeError, match="tensors"):
        execute.execute(b"Mul", 1, [1, 2], ("T", 3), context.context())


def test_variables_that_have_a_value_at_once():
    v = tf.Variable([1.0, 2.0])
    v.load([3.0, 4.0])
    assert (
        v.numpy().tolist() == [3.0, 4.0]
        and "0.1," not in repr(tf.constant(0.1))
        and "numpy=0.1>" in repr(tf.constant(0.1))
    )
    with pytest.raises(RuntimeError, match="numpy"):
        v.eval()


def test_what_a_function_takes():
    def f(a, b=3, *c, **d):
        return a

    spec = tf.function(f).function_spec
    assert spec.fullargspec.args == ["a", "b"] and spec.vararg_name == "c" and spec.flat_input_signature is None
    assert spec.canonicalize_function_inputs(1, z=2) == ((1, 3), {"z": 2})
    assert spec.canonicalize_function_inputs(b=4, a=1) == ((1, 4), {})
    with pytest.raises(AssertionError, match="'a'"):
        spec.canonicalize_function_inputs()
    with pytest.raises(TypeError, match="no TensorSpec"):
        function.validate_signature([1])
    with_default = function.defun(lambda a, b=2.0: a + b, input_signature=[tf.TensorSpec([], tf.float32)] * 2)
    assert with_default(1.0).numpy() == 3.0 and len(with_default.flat_input_signature) == 2


@pytest.mark.parametrize(
    "make,traces",
    [
        (lambda i: tf.ragged.constant([[1] * i] * 3), 1),
        (lambda i: tf.ragged.constant([[1]] * i), 3),
        (lambda i: tf.SparseTensor([[j] for j in range(i)], [1.0] * i, [9]), 1),
        (lambda i: tf.SparseTensor([[0]], [1.0], [i]), 3),
    ],
)
def test_composites_are_told_apart_by_their_types(make, traces):
    seen = []
    f = tf.function(lambda x: seen.append(x) or x)
    for i in (1, 2, 3):
        f(make(i))
    assert len(seen) == traces


@pytest.mark.parametrize("change", [lambda x: x.append(1.0), lambda x: x.reverse(), lambda x: x.__setitem__(0, 1.0)])
def test_arguments_stay_as_they_are(change):
    def f(x):
        change(x)
        return 1.0

    with pytest.raises(ValueError, match="changes its arguments"):
        tf.function(f, autograph=False)([tf.constant(1.0), tf.constant(2.0)])


def test_a_tape_asked_in_a_branch():
    w = tf.Variable(2.0)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = w * x
        if loss > 1.0:
            w.assign_sub(tape.gradient(loss, w))

    step(tf.constant(1.5))
    assert w.numpy() == 0.5


def test_registered_functions_come_with_their_derivatives():
    with tf.Graph().as_default() as graph:
        function.register(function.defun(lambda x: x * x), tf.constant(1.0))
        made, forward, backward = graph.as_graph_def().library.function
        assert forward.attr["backward_function_name"].s.decode() == backward.signature.name
        assert backward.attr["forward_function_name"].s.decode() == forward.signature.name


def test_what_a_body_took():
    x = tf.constant(1.0)
    body = func_graph.FuncGraph("body", collections={"mine": [1]})
    with body.as_default():
        inside = body.capture(x, name="taken")
        body.add_capture(tf.constant(2.0), tf.placeholder(tf.float32))
    assert inside.op.name == "taken" and len(body.captures) == 2 and body.get_collection("mine") == [1]
    assert func_graph.maybe_captured(inside) is x and body.pop_capture(x) is inside
    body.reset_captures([(x, inside)])
    assert body.captures == [(x, inside)]
    func_graph.dismantle_func_graph(body)
    assert body.captures == [] and body.saveable
    body.mark_as_unsaveable("no")
    assert not body.saveable and body.saving_errors == {"no"}
    signature = func_graph.convert_structure_to_signature(([x, 3, object()], {"a": x}))
    assert signature[0][0].name == "0/0" and signature[0][1] == 3 and signature[1]["a"].name == "1/a"
    assert isinstance(signature[0][2], func_graph.UnknownArgument)
    func_graph.check_mutation([x], [x])
    with pytest.raises(ValueError, match="changes"):
        func_graph.check_mutation([x], [inside])
    assert function.is_same_structure([1], [2]) and not function.is_same_structure([1], [2], check_values=True)
    assert function.common_shape(tf.TensorShape([1, 2]), tf.TensorShape([1, 3])).as_list() == [1, None]


def test_ops_by_the_quick_way():
    from tensorflow.python.eager import core

    handle, device = context.context()._handle, context.context().device_name
    run = pywrap_tensorflow.TFE_Py_FastPathExecute
    assert run(handle, device, "AddN", None, None, [tf.constant(1), 2]).numpy() == 3
    for error, given in (
        (ValueError, ()),
        (ValueError, (device, "Identity", None, None)),
        (core._NotOkStatusException, (device, "NoSuchOp", None, None)),
        (core._FallbackException, (device, "AddN", None, None, tf.constant(1))),
    ):
        with pytest.raises(error):
            run(handle, *given)


def test_one_size_of_each_tensor():
    sizes = pywrap_tensorflow.TFE_Py_TensorShapeSlice
    assert sizes([tf.constant([[1, 2]]), tf.constant([3])], 0).numpy().tolist() == [1, 1]
    for error, given in ((IndexError, ([tf.constant(1)], 0)), (TypeError, ([3], 0)), (ValueError, ([], -1))):
        with pytest.raises(error):
            sizes(*given)


def test_arguments_as_attributes_and_tensors():
    assert execute.make_str("a", "s") == b"a"
    with pytest.raises(TypeError):
        execute.make_int(tf.int32, "n")
    mixed = [tf.constant(1), tf.constant(1.0)]
    assert execute.args_to_matching_eager(mixed, None)[1] == mixed


def test_gradients_of_ops_by_hand():
    x = tf.constant(3.0)
    assert backprop._gradient_function("Square", (), 1, [x], [x * x], [tf.constant(1.0)], ()).numpy() == 6.0
    assert backprop._zeros([2], tf.string) is None and backprop._default_vspace.ones_fn([2], tf.int32).shape == [2]
    tape = tf.GradientTape()
    tape._push_tape()
    tape.watch(x)
    y = tf.constant(9.0)
    execute.record_gradient("Square", [x], (), [y], None)
    with pytest.raises(ValueError):
        tape._push_tape()
    tape._pop_tape()
    assert tape.gradient(y, x).numpy() == 6.0
    assert backprop._get_arg_spec(lambda a, b: a, ["b"], (1, 2)) == [1]


def test_accumulators_by_hand():
    from tensorflow.python.eager import forwardprop

    accumulator = forwardprop.ForwardGradientAccumulator()
    accumulator._push_accumulator()
    x = tf.constant(2.0)
    accumulator.watch(x, tf.constant(1.0))
    y = x * x
    accumulator._pop_accumulator()
    assert accumulator.jvp(y).numpy() == 4.0 and accumulator.jvp(y * x) is None
    with pytest.raises(ValueError):
        accumulator._pop_accumulator()


def test_rows_of_tensors_are_shown_below_each_other():
    assert str(tf.constant([[1], [2]])).startswith("tf.Tensor(\n[[1]\n [2]]")
    assert "numpy=\narray([[1],\n" in repr(tf.constant([[1], [2]])) and "numpy=array([1]" in repr(tf.constant([1]))


def test_handles_are_no_numbers():
    with pytest.raises(ValueError):
        tf.Variable(1.0).handle.numpy()
