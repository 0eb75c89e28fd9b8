"""What converted functions call for branches, loops and logic: Python's own for Python values, the graph's for tensors."""

from __future__ import annotations

import builtins
import functools
import operator
import types

import numpy as np

from everflow.framework import dtypes, nest
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import executing_eagerly, get_default_graph
from everflow.framework.static_values import constant_value
from everflow.ops import array, math
from everflow.ops.autograph import lists
from everflow.ops.autograph.conversion import converted, is_users
from everflow.ops.autograph.features import Feature
from everflow.ops.control_flow import Assert, cond, while_loop
from everflow.ops.functions.bodies import BodyGraph
from everflow.ops.io.printing import print as graph_print
from everflow.ops.tensor_arrays.tensor_array import TensorArray
from everflow.ops.variables.variable import Variable


class Undefined:
    """Stands for a variable that has no value yet."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"<variable {self.name!r} without a value>"


def value_of(read, name):
    """A variable's value, or `Undefined` where it has none."""
    try:
        return read()
    except (UnboundLocalError, NameError):
        return Undefined(name)


class State:
    """The attributes and elements that a block assigns: their names, a function that reads them all and one that writes
    them all.

    To branches and loops of the graph they are further variables, which stand after the others.
    """

    def __init__(self, names, get, put):
        self.names, self.get, self.put = names, get, put

    def placed(self, function):
        """A block's function of variables and state, which is put in place before the function runs."""

        def run(*values):
            return function(*self.settle(values))

        return run

    def joined(self, function):
        """The same where the function gives variables: what it leaves in place comes out with them."""

        def run(*values):
            return (*function(*self.settle(values)), *self.get())

        return run

    def settle(self, values):
        """Put the state among the values in place; the others are given back."""
        split = builtins.len(values) - builtins.len(self.names)
        self.put(values[split:])
        return tuple(values[:split])


_NO_STATE = State((), lambda: (), lambda values: None)


def _told(name):
    """What messages call a variable."""
    return "the returned value" if name == "ag__result" else repr(name)


def _is_tensor(value):
    return isinstance(value, (Tensor, Variable))


def _flows(value):
    """Whether a value can be one that a branch or loop of the graph gives: tensors, numbers, strings and structures of
    them.
    """
    flat = nest.flatten(value)
    kinds = (Tensor, Variable, TensorArray, bool, int, float, complex, str, bytes, np.ndarray, np.generic)
    return builtins.bool(flat) and all(isinstance(x, kinds) or hasattr(x, "_type_spec") for x in flat)


# --- branches ------------------------------------------------------------------------------------


def if_stmt(test, then, orelse, values, names, state=None):
    """The values of `names` after an `if`."""
    if not _is_tensor(test):
        return (then if test else orelse)(*values)
    state = state or _NO_STATE
    # A branch of the graph gives some tensor even where no variable comes out of it.
    nothing = [] if names else [1]
    values, names = (*values, *state.get()), (*names, *state.names)
    kept: list = []
    types: dict = {}
    other: list = []

    def branch(function):
        def run():
            results = function(*values)
            # TensorFlow compares what branches give as tensors, once both are drawn; that leaves constants behind.
            for value in [value for pair in zip(other, results) for value in pair if _flows(value)]:
                nest.map_structure(lambda x: x if _is_tensor(x) else _as_tensor(x), value)
            other.extend(results)
            flowing = []
            for position, (name, value) in enumerate(zip(names, results)):
                if isinstance(value, Undefined):
                    raise ValueError(
                        f"{_told(name)} must get a value in both branches of an `if` that a tensor decides"
                    )
                known = dict(kept)
                if _flows(value) if position in known else name in types and not _flows(value):
                    raise ValueError(
                        f"{_told(name)} is a tensor in one branch of an `if` and none in the other: {known.get(position, value)!r}"
                    )
                if _flows(value):
                    value = nest.map_structure(_as_tensor, value)
                    _check_type(name, types.setdefault(name, value), value, "in one branch", "in the other")
                    flowing.append(value)
                    continue
                # Other values can't be chosen when run, so both branches must leave the same one.
                if position in known and known[position] is not value and known[position] != value:
                    raise ValueError(
                        f"{_told(name)} is {known[position]!r} in one branch and {value!r} in the other, and neither is a tensor"
                    )
                kept.append((position, value))
            return [convert_to_tensor(x) for x in nothing] + flowing or [convert_to_tensor(1)]

        return run

    found = cond(test, branch(state.joined(then)), branch(state.joined(orelse)), strict=True)
    fixed = dict(kept)
    flowing = iter(found[builtins.len(nothing) :])
    return state.settle([fixed[i] if i in fixed else next(flowing) for i in range_(len(names))])


def _as_tensor(value):
    return value if isinstance(value, TensorArray) or hasattr(value, "_type_spec") else convert_to_tensor(value)


def _check_type(name, one, other, where, elsewhere):
    """Raise where a variable is a tensor of one type here and of another there, or is nested otherwise."""
    try:
        nest.assert_same_structure(one, other, expand_composites=True)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{_told(name)} is nested otherwise {where} than {elsewhere}: {error}") from None
    if isinstance(one, Tensor) and isinstance(other, Tensor) and one.dtype.base_dtype != other.dtype.base_dtype:
        raise TypeError(f"{_told(name)} has dtype {one.dtype.name} {where} and {other.dtype.name} {elsewhere}")


def if_exp(test, then, orelse):
    """`then() if test else orelse()`"""
    if not _is_tensor(test):
        return then() if test else orelse()
    return cond(test, then, orelse)


# --- loops ---------------------------------------------------------------------------------------


def while_stmt(test, body, values, names, state=None):
    """The values of `names` after a `while`."""
    while True:
        condition = _tried(test, values)
        if _is_tensor(condition):
            return _graph_loop(test, body, values, names, state or _NO_STATE)
        if not condition:
            return values
        values = body(*values)


def _tried(test, values):
    """What a test gives; the graph gets nothing of it, since a loop of the graph draws its own."""
    if executing_eagerly():
        return test(*values)
    scratch = BodyGraph("tried", get_default_graph())
    scratch.draws_functions = False  # which the graph outside would come to know
    with scratch.as_default():
        return test(*values)


def _graph_loop(test, body, values, names, state, loop=while_loop):
    """The values of `names` after a loop of the graph, which `loop` makes."""
    test, body = state.placed(test), state.joined(body)
    values, names = (*values, *state.get()), (*names, *state.names)
    flowing = [i for i, v in enumerate(values) if not isinstance(v, Undefined) and _flows(v)]
    for i, value in enumerate(values):
        if isinstance(value, Undefined):
            raise ValueError(f"{_told(names[i])} must have a value before a loop that a tensor decides")
    start = [values[i] for i in flowing]

    def all_values(given):
        full = list(values)
        for i, value in zip(flowing, given):
            full[i] = value
        return full

    def step(*given):
        results = body(*all_values(given))
        if builtins.len(results) != builtins.len(values):
            raise ValueError(f"An iteration gives {builtins.len(results)} values for the loop's {builtins.len(values)}")
        for i, (before, after) in enumerate(zip(values, results)):
            if i not in flowing and after is not before and after != before:
                raise ValueError(
                    f"{_told(names[i])} is {before!r} before the loop and {after!r} after an iteration, and neither is a tensor"
                )
        after = [_like(results[i], g) for i, g in zip(flowing, given)]
        for i, old, new in zip(flowing, given, after):
            _check_type(names[i], old, new, "before the loop", "after an iteration")
        return after

    if not start:
        # Only state changes, say a variable; the loop still needs something to pass on.
        loop(lambda _: test(*values), lambda turn: step() or [turn + 1], [0])
        return state.settle(values)
    found = loop(lambda *given: test(*all_values(given)), step, start, return_same_structure=True)
    return state.settle(all_values(found))


def _like(value, before):
    """What a variable is after an iteration, Python numbers with the dtype that it had."""
    if isinstance(before, Tensor) and not _is_tensor(value) and not isinstance(value, TensorArray):
        return convert_to_tensor(value, dtype=before.dtype.base_dtype)
    return nest.map_structure(_as_tensor, value)


def for_stmt(iterated, go_on, body, values, names, state=None):
    """The values of `names` after a `for`; `go_on` tells whether to go on, None where nothing stops it early."""
    state = state or _NO_STATE
    if _is_tensor(iterated):
        return _for_tensor(convert_to_tensor(iterated), go_on, body, values, names, state)
    if hasattr(iterated, "optionals") and not executing_eagerly():
        if hasattr(iterated, "reduce") and not get_default_graph().building_function:
            return _for_dataset(iterated, go_on, body, values, names, state)
        return _for_optionals(iterated.optionals(), go_on, body, values, names, state)
    for item in iterated:
        condition = True if go_on is None else go_on(*values)
        if _is_tensor(condition):
            values = if_stmt(condition, lambda *v, item=item: body(item, *v), lambda *v: v, values, names, state)
            continue
        if not condition:
            break
        values = body(item, *values)
    return values


def _for_tensor(items, go_on, body, values, names, state):
    if not items.is_eager and items.op.type == "Range":
        return _for_range(*items.op.inputs, go_on, body, values, names, state)
    count = items.shape.size(0) if items.shape.rank else None
    if count is None:
        count = array.shape(items)[0]
    elements = TensorArray(items.dtype, size=count).unstack(items)

    def step(i, *given):
        after = body(elements.read(i), *given)
        return i + 1, *after

    return _graph_loop(_until(lambda i: i < count, go_on), step, (0, *values), ("", *names), state)[1:]


def _for_range(start, limit, delta, go_on, body, values, names, state):
    """A loop over numbers: they are counted, not read from the tensor that holds them all."""
    known = constant_value(delta)
    if known is not None:
        more = (lambda number: number < limit) if known >= 0 else (lambda number: number > limit)
    else:

        def more(number):
            up = raw.LogicalAnd(x=delta >= 0, y=number < limit)
            return raw.LogicalOr(x=up, y=raw.LogicalAnd(x=delta < 0, y=number > limit))

    def step(number, *given):
        after = body(number, *given)
        return number + delta, *after

    return _graph_loop(_until(more, go_on), step, (start, *values), ("", *names), state)[1:]


def _until(more, go_on):
    """The test of a loop that counts, and that may be stopped early."""
    if go_on is None:
        return lambda i, *given: more(i)
    return lambda i, *given: cond(more(i), lambda: go_on(*given), lambda: False)


def _for_dataset(dataset, go_on, body, values, names, state):
    """A loop over a dataset in a graph without functions around it: the dataset is reduced to the values."""
    element = None

    def loop(_, step, start, **options):
        def turn(given, item):
            nonlocal element
            element = item
            return tuple(step(*given))

        return dataset.reduce(tuple(nest.map_structure(_as_tensor, start)), turn)

    def step(*given):
        if go_on is None:
            return body(element, *given)
        return if_stmt(go_on(*given), lambda *v: body(element, *v), lambda *v: v, given, names, state)

    return _graph_loop(None, step, values, names, state, loop)


def _for_optionals(following, go_on, body, values, names, state):
    """A loop over a dataset: `following()` gives its next element as an optional."""

    def test(more, *given):
        return more if go_on is None else and_(lambda: more, lambda: go_on(*given))

    def step(more, *given):
        element = following()
        more = element.has_value()
        return (more, *if_stmt(more, lambda *v: body(element.get_value(), *v), lambda *v: v, given, names, state))

    return _graph_loop(test, step, (convert_to_tensor(True), *values), ("", *names), state)[1:]


# --- logic ---------------------------------------------------------------------------------------


def and_(first, *rest):
    """`a and b`, each part a function that gives it."""
    result = first()
    if not rest or not _is_tensor(result) and not result:
        return result
    if not _is_tensor(result):
        return and_(*rest)
    return cond(convert_to_tensor(result), lambda: convert_to_tensor(and_(*rest), dtypes.bool), lambda: result)


def or_(first, *rest):
    """`a or b`, each part a function that gives it."""
    result = first()
    if not rest or not _is_tensor(result) and result:
        return result
    if not _is_tensor(result):
        return or_(*rest)
    return cond(convert_to_tensor(result), lambda: result, lambda: convert_to_tensor(or_(*rest), dtypes.bool))


def not_(value):
    """`not value`"""
    return raw.LogicalNot(x=value) if _is_tensor(value) else not value


def _equal(one, other):
    """`one == other`, of tensors by their values."""
    return raw.Equal(x=one, y=other) if _is_tensor(one) or _is_tensor(other) else one == other


def _not_equal(one, other):
    """`one != other`, of tensors by their values."""
    return not_(_equal(one, other)) if _is_tensor(one) or _is_tensor(other) else one != other


def assert_stmt(test, message):
    """`assert test, message`; a tensor is checked when run, before what is made after."""
    value = test()
    if _is_tensor(value):
        return Assert(value, [str(message())])
    if not value:
        raise AssertionError(message())
    return None


# --- calls ---------------------------------------------------------------------------------------


def environment(recursive, features):
    """What a converted function knows as `ag__`: the functions here, and how calls and `==` are done in it."""
    calls = functools.partial(_callable_of if recursive else _builtin_of, features)
    compared = (
        {"eq": _equal, "not_eq": _not_equal}
        if Feature.EQUALITY_OPERATORS in features
        else {"eq": operator.eq, "not_eq": operator.ne}
    )
    return types.SimpleNamespace(**{**globals(), **lists.OPERATORS, "callable_of": calls, **compared})


def _builtin_of(features, function):
    """What is called in place of a function that is not to be converted: some builtins know tensors."""
    if function is builtins.print and Feature.BUILTIN_FUNCTIONS in features:
        return print_
    try:
        return _BUILTINS.get(function, function)
    except TypeError:  # it can't be hashed, so it is none of them
        return function


def _callable_of(features, function):
    """What is called in place of a function: the user's own are converted, some builtins know tensors."""
    if isinstance(function, (types.FunctionType, types.MethodType)) and is_users(function):
        return converted(function, features=features)
    if isinstance(function, functools.partial):
        return functools.partial(_callable_of(features, function.func), *function.args, **function.keywords)
    if callable(function) and isinstance(function.__call__, types.MethodType) and is_users(function.__call__):
        return converted(function.__call__, features=features)
    return _builtin_of(features, function)


def range_(*limits):
    """`range`, of tensors too; one that ends before it starts is empty."""
    if any(_is_tensor(x) for x in limits):
        if len(limits) == 1:
            limits = [math.maximum(limits[0], 0)]
        elif len(limits) == 2:
            limits = [limits[0], math.maximum(*limits)]
        return math.range(*limits)
    return builtins.range(*limits)


def len_(value):
    """`len`, of tensors too."""
    if not _is_tensor(value):
        return builtins.len(value)
    value = convert_to_tensor(value)
    known = value.shape.size(0) if value.shape.rank else None
    if known is not None:
        return known
    array.shape(value)  # TensorFlow looks at the rank first
    return array.shape(value)[0]


def print_(*values, **options):
    """`print`, of tensors when they are run."""
    if not any(_is_tensor(v) for v in values):
        return builtins.print(*values, **options)
    return graph_print(*values, **options)


def int_(*arguments, **options):
    """`int`, of tensors too."""
    if arguments and _is_tensor(arguments[0]) and (*arguments[1:], *options.values()) not in ((), (10,)):
        raise NotImplementedError(f"int() of a tensor in another base than ten: {(arguments[1:], options)}")
    return (
        _cast(arguments[0], dtypes.int32)
        if arguments and _is_tensor(arguments[0])
        else builtins.int(*arguments, **options)
    )


def float_(*arguments):
    """`float`, of tensors too."""
    return _cast(arguments[0], dtypes.float32) if arguments and _is_tensor(arguments[0]) else builtins.float(*arguments)


def _cast(value, dtype):
    value = convert_to_tensor(value)
    if value.dtype == dtypes.string:
        return raw.StringToNumber(string_tensor=value, out_type=dtype)
    return value if value.dtype.base_dtype == dtype else raw.Cast(x=value, DstT=dtype)


def _is_dataset(value):
    return hasattr(value, "optionals") and hasattr(value, "zip")


def zip_(*values, **options):
    """`zip`, of datasets too."""
    if values and all(map(_is_dataset, values)):
        return values[0].zip(values)
    return builtins.zip(*values, **options)


def enumerate_(values, start=0):
    """`enumerate`, of datasets too."""
    return values.enumerate(start) if _is_dataset(values) else builtins.enumerate(values, start)


_BUILTINS = {
    builtins.range: range_,
    builtins.len: len_,
    builtins.int: int_,
    builtins.float: float_,
    builtins.zip: zip_,
    builtins.enumerate: enumerate_,
}
