"""Limits of Python's own that a graph must not meet: functions that call each other deep, or twice at each level."""

import subprocess
import sys
import textwrap

import pytest

import everflow as tf
from everflow.ops.functions.defun import Declare, Defun

SCALAR = [tf.TensorSpec([], tf.float32)]


def as_defun(function, name):
    return Defun(tf.float32, func_name=name)(function)


def as_traced(function, name):
    return tf.function(function, input_signature=SCALAR)


KINDS = pytest.mark.parametrize("kind", [as_defun, as_traced])


def nested(kind, depth, body):
    """Functions, each of which calls the one before as `body(inner, x)` says; the last of them."""

    def level(i, inner):
        return kind(lambda x: body(inner, x), f"Level{i}")

    function = kind(lambda x: x + 1.0, "Level0")
    for i in range(1, depth):
        function = level(i, function)
    return function


def summing():
    """A function that adds the numbers up to its argument by calling itself."""
    declared = Declare("AllUpTo", [("n", tf.int32)], [("sum", tf.int32)])

    @Defun(tf.int32, func_name="AllUpTo", out_names=["sum"])
    def defined(n):
        return tf.cond(n < 1, lambda: tf.zeros_like(n), lambda: n + declared(n - 1))

    defined.add_to_graph(tf.get_default_graph())
    return declared


@KINDS
def test_functions_a_hundred_deep(kind, graph):
    x = tf.placeholder(tf.float32, [])
    y = nested(kind, 100, lambda inner, x: inner(x) + 1.0)(x)
    (slope,) = tf.gradients(y * y, x)
    with tf.Session() as session:
        assert session.run([y, slope], {x: 2.0}) == [102.0, 204.0]
    with tf.Graph().as_default():
        y, slope = tf.import_graph_def(graph.as_graph_def(), {x.name: 3.0}, [y.name, slope.name])
        with tf.Session() as session:
            assert session.run([y, slope]) == [103.0, 206.0]


@KINDS
def test_functions_that_call_the_next_twice(kind):
    x = tf.placeholder(tf.float32, [])
    y = nested(kind, 12, lambda inner, x: inner(x) + inner(2.0 * x))(x)
    (slope,) = tf.gradients(y, x)
    with tf.Session() as session:
        assert session.run([y, slope], {x: 1.0}) == [2.0**11 + 3.0**11, 3.0**11]


@KINDS
def test_forty_levels_of_two_calls_are_drawn_differentiated_exported_and_planned(kind, graph):
    x, wanted = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])
    function = nested(kind, 40, lambda inner, x: inner(x) + inner(2.0 * x))
    y = tf.cond(wanted, lambda: function(x), lambda: x * 3.0)
    slope = tf.gradients(y, x)[0]
    with tf.Session() as session:
        assert session.run([y, slope], {x: 2.0, wanted: False}) == [6.0, 3.0]
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(y, {x: 2.0, wanted: True}, options=tf.RunOptions(timeout_in_ms=300))
    with tf.Graph().as_default():
        y, slope = tf.import_graph_def(graph.as_graph_def(), {x.name: 2.0, wanted.name: False}, [y.name, slope.name])
        with tf.Session() as session:
            assert session.run([y, slope]) == [6.0, 3.0]


def test_functions_that_call_the_two_before_are_traced_once_each(graph):
    functions = [
        tf.function(lambda x: x + 1.0, input_signature=SCALAR),
        tf.function(lambda x: x + 2.0, input_signature=SCALAR),
    ]

    def level(first, second):
        return tf.function(lambda x: first(x) + second(x), input_signature=SCALAR)

    for _ in range(40):
        functions.append(level(functions[-1], functions[-2]))
    functions[-1](tf.constant(1.0))
    assert len(graph.as_graph_def().library.function) == len(functions)


def test_a_trace_shared_by_bodies_reads_the_variable_of_the_graph():
    v = tf.Variable(3.0, use_resource=True)

    @tf.function
    def inner(x):
        return x * v

    first, second = tf.function(lambda x: inner(x) + 1.0), tf.function(lambda x: inner(x) + 2.0)
    x = tf.constant(2.0)
    total = first(x) + second(x)
    slope = tf.gradients(total, v)[0]
    with tf.Session() as session:
        session.run(v.initializer)
        assert session.run([total, slope]) == [15.0, 4.0]


def test_a_body_that_uses_what_is_around_it_is_traced_for_each_place():
    def doubled_outside(x):
        around = 2.0 * x
        return tf.function(lambda y: y + around)(x)

    x = tf.constant(2.0)
    outer = tf.function(doubled_outside)
    again = tf.function(lambda x: outer(x) + doubled_outside(x))
    with tf.Session() as session:
        assert session.run(again(x)) == 12.0


def test_recursion_is_as_deep_as_it_says():
    n = tf.placeholder(tf.int32, [])
    total = summing()(n)
    with tf.Session() as session:
        assert [session.run(total, {n: depth}) for depth in (0, 1, 10, 300, 3000)] == [0, 1, 55, 45150, 4501500]


def test_recursion_without_an_end_is_an_error_and_no_crash():
    program = """
        import everflow as tf
        from everflow.ops.functions.defun import Declare, Defun

        declared = Declare("Endless", [("n", tf.int32)], [("m", tf.int32)])

        @Defun(tf.int32, func_name="Endless", out_names=["m"])
        def defined(n):
            return declared(n + 1)

        defined.add_to_graph(tf.get_default_graph())
        y = declared(tf.constant(0))
        with tf.Session() as session:
            for _ in range(2):
                try:
                    session.run(y)
                except tf.errors.ResourceExhaustedError as error:
                    print("without an end" in error.message, session.run(tf.constant(1)))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=60)
    assert done.stdout == "True 1\n" * 2, done.stderr


def test_python_is_left_as_deep_as_it_was():
    before = sys.getrecursionlimit()
    nested(as_traced, 100, lambda inner, x: inner(x) + 1.0)(tf.constant(0.0))
    assert sys.getrecursionlimit() == before


def test_a_graph_is_deeper_than_pythons_calls():
    depth = 3 * sys.getrecursionlimit()
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [])
        y = x
        for _ in range(depth):
            y = y + 1.0
        (slope,) = tf.gradients(y, x)
        definition = graph.as_graph_def()
        needed = tf.graph_util.extract_sub_graph(definition, [y.op.name])
        assert len(needed.node) == 2 * depth + 1
        variable = tf.Variable(tf.identity(tf.Variable(1.0).initialized_value()))
        tf.train.export_meta_graph(saver_def=tf.train.Saver().as_saver_def())
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            frozen = tf.graph_util.convert_variables_to_constants(session, definition, [y.op.name])
            assert len(frozen.node) == len(needed.node)
            assert session.run([y, slope, variable], {x: 0.5}) == [depth + 0.5, 1.0, 1.0]
    with tf.Graph().as_default():
        y, slope = tf.import_graph_def(definition, {x.name: 2.0}, [y.name, slope.name])
        with tf.Session() as session:
            assert session.run([y, slope]) == [depth + 2.0, 1.0]


def _deep(tensor):
    for _ in range(2 * sys.getrecursionlimit()):
        tensor = tensor + 1.0
    return tensor


def test_initial_values_may_be_computed_in_many_steps():
    first = tf.Variable(1.0)
    second = tf.Variable(_deep(first.initialized_value()))
    third = tf.get_variable("third", initializer=_deep(tf.constant(2.0)))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run([second, third]) == [2 * sys.getrecursionlimit() + 1.0, 2 * sys.getrecursionlimit() + 2.0]


def test_functions_copy_and_lift_what_was_computed_in_many_steps():
    outside = _deep(tf.constant(1.0))
    copying = Defun(tf.float32, func_name="Copying", capture_by_value=True)(lambda x: x + outside)
    made = []

    @tf.function
    def making(x):
        if not made:
            made.append(tf.Variable(_deep(tf.constant(1.0))))
        return x + made[0]

    expected = 2 * sys.getrecursionlimit() + 1.0
    x = tf.constant(0.0)
    copied, lifted = copying(x), making(x)
    with tf.Session() as session:
        session.run(made[0].initializer)
        assert session.run([copied, lifted]) == [expected, expected]


def test_loops_in_loops_are_drawn_and_differentiated():
    def loops(depth, x):
        if depth == 0:
            return x * 1.5
        return tf.while_loop(lambda i, a: i < 1, lambda i, a: (i + 1, loops(depth - 1, a)), [0, x])[1]

    x = tf.placeholder(tf.float32, [])
    y = loops(25, x)
    assert tf.gradients(y, x)[0] is not None
    shallow = loops(2, x)
    slope = tf.gradients(shallow, x)[0]
    with tf.Session() as session:
        assert session.run([shallow, slope], {x: 2.0}) == [3.0, 1.5]


@pytest.mark.parametrize(
    "iterator", [tf.compat.v1.data.make_one_shot_iterator, tf.compat.v1.data.make_initializable_iterator]
)
def test_datasets_joined_by_the_thousand(iterator):
    count = sys.getrecursionlimit() + 200
    dataset = tf.data.Dataset.range(1)
    for i in range(1, count):
        dataset = dataset.concatenate(tf.data.Dataset.range(i, i + 1))
    made = iterator(dataset.batch(count))
    with tf.Session() as session:
        if iterator is tf.compat.v1.data.make_initializable_iterator:
            session.run(made.initializer)
        assert session.run(made.get_next()).tolist() == list(range(count))


@pytest.mark.parametrize("depth", [25, 60])
def test_loops_in_loops_run(depth):
    """Python itself nests no more than twenty blocks."""

    def nest(level, value):
        inside = (lambda i, v: (i + 1, v + 1.0)) if level == 1 else (lambda i, v: (i + 1, nest(level - 1, v)))
        return tf.while_loop(lambda i, v: i < (2 if level % 6 == 0 else 1), inside, [0, value])[1]

    x = tf.placeholder(tf.float32, [])
    y = nest(depth, x)
    with tf.Session() as sess:
        assert sess.run(y, {x: 0.5}) == 0.5 + 2 ** (depth // 6)


def test_branches_in_branches_run():
    x = tf.placeholder(tf.float32, [])

    def nest(level, value):
        if level == 0:
            return value
        return tf.cond(value < 1000.0, lambda: nest(level - 1, value + 1.0), lambda: value - 1.0)

    y = nest(40, x)
    with tf.Session() as sess:
        assert sess.run(y, {x: 0.0}) == 40.0 and sess.run(y, {x: 995.0}) == 999.0


@pytest.mark.parametrize("count", [20_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_a_long_row_of_nodes(count):
    x = tf.placeholder(tf.float32, [2])
    y = x
    for _ in range(count):
        y = y + 1.0
    with tf.Session() as sess:
        for start in (0.0, 5.0):
            assert sess.run(y, {x: [start, -start]}).tolist() == [start + count, count - start]
