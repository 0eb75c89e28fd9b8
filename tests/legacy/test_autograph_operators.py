"""`tensorflow.python.autograph.operators` and `.utils`: statements and builtins of values and of tensors."""

import pytest

import everflow as tf
import tests.served  # noqa: F401

# isort: split
from tensorflow.python.autograph.operators import (
    control_flow,
    data_structures,
    exceptions,
    logical,
    py_builtins,
    slices,
    special_values,
    symbols,
)
from tensorflow.python.autograph.utils import ag_logging, context_managers, misc, py_func, tensor_list, tensors

NO_STATE = {"get_state": lambda: (), "set_state": lambda values: None}


@pytest.fixture
def run():
    with tf.Graph().as_default(), tf.Session() as sess:
        yield sess.run


def test_loops(run):
    def digits(item, number):
        return (number * 10 + item,)

    for items in (range(1, 4), tf.constant([1, 2, 3]), tf.range(1, 4)):
        found = control_flow.for_stmt(items, None, digits, init_vars=(0,), **NO_STATE)
        assert (found if isinstance(items, range) else run(found)) == (123,)
        found = control_flow.for_stmt(items, lambda number: number < 10, digits, init_vars=(0,), **NO_STATE)
        assert (found if isinstance(items, range) else run(found)) == (12,)
    turn = {"test": lambda i: i < 5, "body": lambda i: (i + 1,), **NO_STATE}
    assert control_flow.while_stmt(init_vars=(0,), **turn) == (5,)
    assert run(control_flow.while_stmt(init_vars=(tf.constant(0),), opts={"maximum_iterations": 2}, **turn)) == (2,)
    with pytest.raises(ValueError, match="before a loop"):
        control_flow.for_stmt(tf.range(3), None, digits, init_vars=(special_values.Undefined("n"),), **NO_STATE)


def test_loops_that_do_not_end(monkeypatch):
    monkeypatch.setattr(control_flow, "PYTHON_MAX_ITERATIONS", 10)
    with pytest.raises(ValueError, match="more often than 10"):
        control_flow.while_stmt(lambda: True, lambda: (), init_vars=(), **NO_STATE)
    monkeypatch.setattr(control_flow, "LIMIT_PYTHON_ITERATIONS", False)
    assert control_flow.while_stmt(lambda i: i < 20, lambda i: (i + 1,), init_vars=(0,), **NO_STATE) == (20,)


@pytest.mark.parametrize("ops", [0, 1])
def test_loops_of_python_that_fill_the_graph(run, monkeypatch, capsys, ops):
    monkeypatch.setattr(control_flow, "INEFFICIENT_UNROLL_MIN_ITERATIONS", 10)
    monkeypatch.setattr(ag_logging, "echo_log_to_stdout", True)

    def turn(i):
        for _ in range(ops):
            tf.constant(1)
        return (i + 1,)

    control_flow.while_stmt(lambda i: i < 30, turn, init_vars=(0,), **NO_STATE)
    assert capsys.readouterr().out.count("makes ops: this loop") == ops


def test_iterations_give_all_variables(run):
    with pytest.raises(ValueError, match="gives 1 values for the loop's 2"):
        control_flow.while_stmt(
            lambda i, j: i < tf.constant(3), lambda i, j: (i + 1,), init_vars=(tf.constant(0), 1), **NO_STATE
        )


def test_symbols():
    held = symbols.ValueSymbol("x", [1, {"a": 2}])
    missing = symbols.ValueSymbol("y", special_values.Undefined("y"))
    for symbol, name, value in (
        (symbols.SubscriptSymbol(held, symbols.ValueSymbol("i", 0)), "x[i]", 1),
        (symbols.AttributeAccessSymbol(held, "__len__"), "x.__len__", held.value.__len__),
    ):
        assert (symbol.name, symbol.maybe_compute_value()) == (name, value)
    for symbol in (
        symbols.SubscriptSymbol(held, symbols.ValueSymbol("i", 7)),
        symbols.SubscriptSymbol(held, missing),
        symbols.AttributeAccessSymbol(held, "b"),
        symbols.AttributeAccessSymbol(missing, "b"),
    ):
        assert special_values.is_undefined(symbol.maybe_compute_value())


def test_branches(run):
    yes = tf.constant(True)
    assert control_flow.if_stmt(True, lambda: 1, lambda: -1, **NO_STATE) == 1
    assert run(control_flow.if_stmt(yes, lambda: (1, 2), lambda: (-1, -2), **NO_STATE)) == (1, 2)
    with pytest.raises(ValueError, match="float32"):
        control_flow.if_stmt(yes, lambda: 1, lambda: -1.0, **NO_STATE)
    with pytest.raises(TypeError, match="'i' is int32"):
        control_flow.if_stmt(yes, lambda: (1,), lambda: (-1.0,), basic_symbol_names=("i",), **NO_STATE)
    with pytest.raises(ValueError, match="main branch"):
        control_flow.if_stmt(yes, lambda: special_values.Undefined("x"), lambda: 1, **NO_STATE)
    held = {"x": 1}

    def put(value):
        held["x"] = tf.constant(value)
        return value

    state = {"get_state": lambda: (held["x"],), "set_state": lambda values: held.update(x=values[0])}
    result = control_flow.if_stmt(tf.constant(False), lambda: put(5), lambda: put(6), **state)
    assert run([result, held["x"]]) == [6, 6]


def test_lists(run):
    kind = data_structures.ListPopOpts(tf.int32, ())
    stacked = data_structures.ListStackOpts(tf.int32, lambda values: ("called", values))
    held = data_structures.list_append(data_structures.tf_tensor_list_new([3, 4]), 5)
    rest, last = data_structures.list_pop(held, None, kind)
    assert run([last, py_builtins.len_(rest)]) == [5, 2]
    assert run(data_structures.list_stack(rest, stacked)).tolist() == [3, 4]
    assert data_structures.list_stack([1], stacked) == ("called", [1])
    assert data_structures.list_pop([1, 2], 0, kind) == ([2], 1) and data_structures.new_list([1]) == [1]
    assert run(data_structures.tf_tensor_array_new([3, 4]).stack()).tolist() == [3, 4]
    for make in (data_structures.tf_tensor_list_new, data_structures.tf_tensor_array_new):
        with pytest.raises(ValueError, match="of one type"):
            make([3, 4.0])
    with pytest.raises(NotImplementedError):
        data_structures.list_pop(held, 0, kind)
    of = slices.GetItemOpts(tf.int32)
    assert run([slices.get_item(held, 1, of), slices.get_item(tf.constant("abc"), 1, of)]) == [4, b"b"]
    assert run(slices.set_item(tf.constant([1, 2]), 0, 9)).tolist() == [9, 2]


def test_expressions(run):
    assert logical.and_(lambda: 0, lambda: 1 / 0) == 0 and logical.not_(True) is False and logical.eq(1, 1)
    assert run(logical.or_(lambda: tf.constant(False), lambda: tf.constant(True)))
    assert run([py_builtins.float_(tf.constant("0.5")), py_builtins.int_(tf.constant("15"))]) == [0.5, 15]
    assert run(py_builtins.abs_(tf.constant(-1))) == py_builtins.abs_(-1) == 1
    assert list(py_builtins.enumerate_([7], 2)) == [(2, 7)] and py_builtins.overload_of(len) is py_builtins.len_
    with pytest.raises(NotImplementedError, match="base"):
        py_builtins.int_(tf.constant("11"), 2)
    with pytest.raises(AssertionError, match="words"):
        exceptions.assert_stmt(False, lambda: "words")
    with pytest.raises(tf.errors.InvalidArgumentError, match="words"):
        run(exceptions.assert_stmt(tf.constant(False), lambda: "words"))


def test_small_functions(run):
    assert run([misc.get_range_len(1, 5, 2), misc.get_range_len(5, 1, 2), misc.get_range_len(5, 1, -2)]) == [2, 0, 2]
    assert misc.alias_tensors(tf.constant(1)).op.type == "Identity" and misc.capitalize_initial("abC") == "AbC"
    two = tf.constant(2, tf.int64)
    assert run(py_func.wrap_py_func(lambda a, b, k=1: a + b * k, tf.int64, (1, two), {"k": two})) == 5
    assert run(py_func.wrap_py_func(lambda a: a, py_func.MatchDType(0), (two,))) == 2
    with context_managers.control_dependency_on_returns([two]):
        assert tf.constant(1).op.control_inputs == [two.op]
    held = tensor_list.TensorList((), tf.int32)
    held.append(1)
    held.append(2)
    held[0] = 7
    assert run([held[0], held.pop(), held.count()]) == [7, 2, 1] and tensors.is_tensor_list(held.list_)
    assert tensors.is_range_tensor(tf.range(3)) and not tensors.is_range_tensor(two)
