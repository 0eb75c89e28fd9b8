"""Functions of eager programs: traced, wrapped, differentiated, and Python's own as ops."""

import threading

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode, graph_mode
from everflow.framework.errors import InaccessibleTensorError
from everflow.ops.functions.initial_values import UnliftableError
from everflow.runtime.plan.native import machine_code, tiers

tfe = tf.contrib.eager


def test_defun_makes_variables_in_any_trace():
    made = []

    @tfe.defun
    def scaled(x, n):
        if len(made) <= n:
            made.append(tf.Variable(float(n + 2)))
        return x * made[n]

    assert [scaled(tf.constant(3.0), n).numpy() for n in (0, 1, 0)] == [6.0, 9.0, 6.0]
    assert len(made) == 2


def test_relaxed_shapes_stop_the_tracing():
    shapes = []

    @tf.function(experimental_relax_shapes=True)
    def double(x):
        shapes.append(x.shape.as_list())
        return x * 2.0

    for n in range(1, 6):
        assert double(tf.ones([n])).numpy().tolist() == [2.0] * n
    assert shapes == [[1], [2], [None]]


def test_a_function_may_name_itself():
    @tf.function
    def counting(x):
        if not hasattr(counting, "v"):
            counting.v = tf.Variable(1.0)
        return counting.v.assign_add(x)

    assert [counting(tf.constant(2.0)).numpy(), counting(tf.constant(2.0)).numpy()] == [3.0, 5.0]


def test_wrapped_functions_keep_their_variables():
    def scaled(x):
        v = tf.get_variable("v", [], initializer=tf.constant_initializer(2.0))
        return {"y": x * v, "count": tf.assign_add(v, 1.0)}

    wrapped = tf.compat.v1.wrap_function(scaled, [tf.TensorSpec([None], tf.float32)])
    assert [v.name for v in wrapped.graph.get_collection("variables")] == ["v:0"]
    assert [wrapped([1.0])["count"].numpy() for _ in range(2)] == [3.0, 4.0]
    with pytest.raises(NotImplementedError):
        wrapped(x=tf.constant([1.0]))


def test_parts_of_a_graph_as_functions():
    graph = tf.Graph()
    with graph.as_default():
        a = tf.placeholder(tf.float32, [], name="a")
        count = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], name="loop")
        b = tf.identity(a * 3.0, name="b")
        tf.add(b, tf.cast(count, tf.float32), name="c")
    imported = tf.wrap_function(lambda: tf.import_graph_def(graph.as_graph_def(), name=""), [])
    assert imported.prune("a:0", "c:0")(tf.constant(2.0)).numpy() == 9.0
    both = imported.prune(["a:0"], {"b": "b:0", "c": "c:0"})(tf.constant(1.0))
    assert {k: v.numpy() for k, v in both.items()} == {"b": 3.0, "c": 6.0}
    assert imported.prune("b:0", "c:0")(tf.constant(10.0)).numpy() == 13.0
    with pytest.raises(UnliftableError, match="'a' is needed"):
        imported.prune([], "c:0")
    with pytest.raises(KeyError):
        imported.prune("a:0", "d:0")


def test_gradients_of_arguments_and_of_variables():
    both = tfe.value_and_gradients_function(lambda x, y: x * x * y)
    value, grads = both(3.0, 4.0)
    assert [value.numpy(), *(g.numpy() for g in grads)] == [36.0, 24.0, 9.0]
    assert [g.numpy() for g in tfe.gradients_function(lambda x, y: x * y, params=["y"])(3.0, 4.0, dy=10.0)] == [30.0]
    cube = tfe.gradients_function(lambda x: x**3)
    assert tfe.gradients_function(lambda x: cube(x)[0])(2.0)[0].numpy() == 12.0
    v, w = tf.Variable(3.0), tf.Variable(5.0)
    found = tfe.implicit_gradients(lambda x: x * w * v)(2.0)
    assert [(g.numpy(), v) for g, v in found] == [(10.0, v), (6.0, w)]
    with pytest.raises(ValueError, match="No trainable variables"):
        tfe.implicit_gradients(lambda x: x)(tf.constant(1.0))
    with pytest.raises(ValueError, match="returned None"):
        tfe.gradients_function(lambda x: None)(1.0)
    with pytest.raises(ValueError, match="keyword"):
        cube(x=1.0)


@pytest.mark.parametrize(
    ("raised", "seen"),
    [
        (ValueError, tf.errors.InvalidArgumentError),
        (KeyError, tf.errors.UnknownError),
        (StopIteration, tf.errors.OutOfRangeError),
    ],
)
def test_errors_of_python_functions(raised, seen):
    def fail(x):
        raise raised("why")

    with pytest.raises(seen, match="why"):
        tf.py_function(fail, [1.0], tf.float32)
    with pytest.raises(raised):
        tf.py_func(fail, [1.0], tf.float32)


def test_python_functions_have_gradients_in_traces_too():
    @tf.function
    def cubed(x):
        return tf.py_function(lambda v: v**3, [x], tf.float32)

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = cubed(x)
    assert [y.numpy(), tape.gradient(y, x).numpy()] == [8.0, 12.0]


def test_a_tape_in_a_function_goes_through_loops_that_read_variables():
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def last(x):
        with tf.GradientTape() as tape:
            y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * w), [tf.constant(0), x])[1]
        return tape.gradient(y, w)

    @tf.function
    def every(x):
        def body(i, a, taken):
            return i + 1, a * w, taken.write(i, a * w)

        with tf.GradientTape() as tape:
            taken = tf.while_loop(lambda i, *_: i < 3, body, [tf.constant(0), x, tf.TensorArray(tf.float32, 3)])[2]
            total = tf.reduce_sum(taken.stack())
        return tape.gradient(total, w)

    np.testing.assert_array_equal(last(tf.ones([2])), [3.0, 12.0])
    np.testing.assert_array_equal(every(tf.ones([2])), [6.0, 17.0])


def test_recurrent_layers_train_when_executing_eagerly():
    tf.set_random_seed(0)
    model = tf.keras.Sequential([tf.keras.layers.LSTM(3, input_shape=(4, 1)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.linspace(0, 1, 32).reshape(8, 4, 1)
    losses = model.fit(x, x.sum(1), epochs=3, verbose=0, shuffle=False).history["loss"]
    assert losses[2] < losses[1] < losses[0]
    assert all(np.abs(w).sum() > 0 for w in model.get_weights())


def test_functions_can_be_run_as_python():
    seen = []

    @tf.function
    def doubled(x):
        seen.append(type(x).__name__)
        return x * 2

    tf.config.experimental_run_functions_eagerly(True)
    try:
        assert [doubled(3), int(doubled(tf.constant(4)))] == [6, 8]
        assert seen == ["int", "EagerTensor"]
    finally:
        tf.config.experimental_run_functions_eagerly(False)
    for _ in range(2):
        assert int(doubled(tf.constant(5))) == 10
    assert len(seen) == 3


def test_a_loop_inside_a_with_statement_needs_no_value_of_its_counter():
    @tf.function
    def total(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            found = tf.zeros([])
            for i in tf.range(3):
                found = found + x[i] * x[i]
        return tape.gradient(found, x)

    np.testing.assert_array_equal(total(tf.constant([1.0, 2.0, 3.0])), [2.0, 4.0, 6.0])


def test_a_function_that_is_called_often_becomes_machine_code(monkeypatch):
    monkeypatch.setattr(tiers, "LONG_ENOUGH", 0.0)
    monkeypatch.setattr(tiers, "LONGER", 0.0)
    counts, whole = [], machine_code.with_machine_code

    def counted(*arguments):
        counts.append(whole(*arguments))
        return counts[-1]

    monkeypatch.setattr(machine_code, "with_machine_code", counted)
    v = tf.Variable(tf.ones([4]))

    @tf.function
    def train(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.tanh(x * v) * tf.exp(-x))
        v.assign_sub(0.1 * tape.gradient(loss, v))
        return loss

    losses = [float(train(tf.ones([3, 4]))) for _ in range(tiers.OFTEN_ENOUGH + 2)]
    assert counts == [counts[0]] and counts[0] > 0
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize("make", [tf.train.AdamOptimizer, tf.contrib.opt.AdaMaxOptimizer])
@pytest.mark.parametrize("traced_first", [True, False])
def test_an_optimizer_serves_a_function_and_its_traced_form(make, traced_first):
    def trained(how):
        x, optimizer = tf.Variable(3.0), make(0.1)

        def step():
            with tf.GradientTape() as tape:
                y = x * x
            optimizer.apply_gradients(zip(tape.gradient(y, [x]), [x], strict=True))
            return y

        traced = tf.function(step)
        return [(traced if wanted else step)().numpy() for wanted in how] + [x.numpy()]

    mixed = trained([traced_first, not traced_first, traced_first])
    np.testing.assert_allclose(mixed, trained([False] * 3), rtol=1e-6)


def test_a_variable_may_start_from_an_argument_of_the_first_call():
    made = []

    @tf.function
    def product(x):
        if not made:
            made.append(tf.Variable(x))
        return made[0] * x

    assert [product(tf.constant(v)).numpy() for v in (3.0, 5.0)] == [9.0, 15.0] and made[0].numpy() == 3.0


def test_a_tensor_of_an_inner_function_is_not_the_outer_ones():
    @tf.function
    def outer(x):
        inside = []

        @tf.function
        def inner():
            inside.append(tf.zeros([2]))
            return inside[0]

        inner()
        return x + inside[0]

    with pytest.raises(InaccessibleTensorError, match="return it"):
        outer(tf.constant(1.0))


@pytest.mark.parametrize("change", [lambda d: d["a"].append(d["a"][0]), lambda d: d.update(z=1)])
def test_arguments_keep_their_structure(change):
    @tf.function(autograph=False)
    def changes(d):
        change(d)
        return d["a"][0]

    with pytest.raises(ValueError, match="copy"):
        changes({"a": [tf.constant(1.0)]})


def test_a_trace_takes_tensors_of_its_kind_only():
    trace = tf.function(lambda x: x * 2.0).get_concrete_function(tf.TensorSpec([], tf.float32))
    assert trace(tf.constant(2.0)).numpy() == 4.0
    for wrong in (1.0, "text", [1.0], (tf.constant(1.0),), np.array(2.0, np.float32)):
        with pytest.raises(ValueError, match="must be a Tensor"):
            trace(wrong)
    with pytest.raises(tf.errors.InvalidArgumentError, match="traced as float32"):
        trace(tf.constant(1))


def test_a_differentiated_function_is_called_in_another():
    v = tf.Variable(4.0)
    squared = tf.function(lambda: v**2.0)
    with tf.GradientTape() as tape:
        squared()
    around = tf.function(lambda: squared() * 2.0)
    with tf.GradientTape() as tape:
        y = around()
    assert tape.watched_variables() == (v,) and tape.gradient(y, v).numpy() == 16.0
    assert len(squared.get_concrete_function().outputs) == 1


def test_numbers_are_traced_by_value_and_arrays_by_shape():
    traces = []

    @tf.function
    def seen(x):
        traces.append(x)
        return x

    for x in (np.ones(2), np.zeros(2), np.float64(1), np.float64(2)):
        seen(x)
    assert len(traces) == 3


def test_custom_gradient_in_a_function_sees_variables():
    v = tf.Variable(3.0)

    @tf.function
    def scaled(x):
        @tf.custom_gradient
        def inner():
            return v * x, lambda dy, variables=None: ((), [10.0 * dy for _ in variables])

        return inner()

    with tf.GradientTape() as tape:
        y = scaled(tf.constant(2.0))
    assert y.numpy() == 6.0 and tape.gradient(y, v).numpy() == 10.0


def test_the_gradient_of_a_variable_by_itself():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        tape.watch(v)
    assert tape.gradient(v, v).numpy() == 1.0


def test_small_tensors_from_outside_are_known_in_a_body():
    size, weights, v = tf.constant([2, 3]), tf.ones([200]), tf.Variable(2.0)

    @tf.function
    def filled():
        assert tf.fill(size, 1.0).shape.as_list() == [2, 3]
        assert tf.get_static_value(tf.convert_to_tensor(weights)) is None
        with tf.name_scope("scope"):
            return tf.fill(size, 1.0) * v + weights[0]

    trace = filled.get_concrete_function()
    assert trace.graph.inputs[0].op.name == "Fill/dims" and trace.graph.inputs[0].op.type == "Const"
    assert "scope_mul_readvariableop_resource" in [arg.name for arg in trace.function_def.signature.input_arg]
    assert filled().numpy().tolist() == [[3.0] * 3] * 2


def test_variables_of_version_2_in_functions():
    held = []

    @tf.function
    def counting(x):
        if not held:
            held.append(tf.compat.v2.Variable(1.0))
        return held[0].assign_add(x)

    assert [counting(tf.constant(2.0)).numpy() for _ in range(2)] == [3.0, 5.0]

    @tf.function
    def careless():
        return tf.compat.v2.Variable(1.0)

    with pytest.raises(ValueError, match="non-first"):
        careless()


def test_setting_the_seed_starts_the_random_numbers_of_functions_anew():
    @tf.function
    def draw():
        return tf.random.normal([])

    tf.set_random_seed(1)
    first, second = draw().numpy(), draw().numpy()
    tf.set_random_seed(1)
    assert draw().numpy() == first != second


def test_a_function_s_cache_tells_what_it_was_traced_for():
    from everflow.ops.functions.traced import defun_with_attributes

    multiply = defun_with_attributes(lambda x: x, attributes={"func_name": "multiply"})
    multiply(tf.constant(1.0))
    multiply(tf.constant([1.0]))
    assert multiply._name == "multiply"
    assert [key.parent_graph for key in multiply._function_cache.primary] == [None, None]


def test_a_seed_is_that_of_all_threads_and_modes():
    def drawn():
        got = []
        thread = threading.Thread(target=lambda: got.append(tf.random.uniform([2]).numpy()))
        thread.start()
        thread.join()
        with graph_mode(), eager_mode():
            got.append(tf.random.uniform([2]).numpy())
        return np.stack(got)

    tf.set_random_seed(1)
    np.testing.assert_allclose(drawn(), [[0.16513, 0.90148], [0.51011, 0.44353]], atol=1e-5)


def test_a_function_gives_initial_values_before_its_first_call():
    made = []

    @tf.function
    def scaled(x):
        if not made:
            made.append(tf.Variable(3.0))
        return made[0] * x

    initialize = scaled.get_initialization_function(tf.TensorSpec([], tf.float32))
    made[0].assign(9.0)
    initialize()
    assert scaled(tf.constant(2.0)).numpy() == 6.0
    with pytest.raises(RuntimeError, match="has been called"):
        scaled.get_initialization_function(tf.constant(1.0))


def test_a_compilers_mark_is_kept():
    with tf.Graph().as_default() as graph:
        tf.function(lambda x: x + 1.0, experimental_compile=True)(tf.constant(1.0))
    (function,) = graph.as_graph_def().library.function
    assert function.attr["_XlaCompile"].b
