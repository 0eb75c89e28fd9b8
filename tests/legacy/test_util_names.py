"""TensorFlow's `python.util`: identity containers, dispatch, decorators that describe themselves, locks, public names."""

import functools
import gc
import inspect
import sys
import threading
import types

import pytest

import everflow as tf
import tests.served  # noqa: F401

# isort: split
from tensorflow.python.ops import gen_math_ops, gen_stateful_random_ops, rnn_cell_impl
from tensorflow.python.platform import tf_logging
from tensorflow.python.util import (
    all_util,
    decorator_utils,
    deprecation,
    dispatch,
    example_parser_configuration,
    function_utils,
    is_in_graph_mode,
    keyword_args,
    lock_util,
    nest,
    object_identity,
    tf_decorator,
    tf_export,
    tf_inspect,
    tf_should_use,
    tf_stack,
)
from tensorflow.python.util.protobuf import compare


class AlwaysEqual:
    """Equal to anything, and without a hash."""

    __hash__ = None

    def __eq__(self, other):
        return True


def test_dictionaries_and_sets_by_identity():
    a, b = AlwaysEqual(), AlwaysEqual()
    numbers = object_identity.ObjectIdentityDictionary()
    numbers[a], numbers[b] = 1, 2
    assert (numbers[a], numbers[b], len(numbers)) == (1, 2, 2)
    assert AlwaysEqual() not in numbers
    both = object_identity.ObjectIdentitySet([a, b, a])
    assert len(both) == 2
    assert len(both.intersection([a])) == len(both.difference([a])) == 1
    assert both == object_identity.ObjectIdentitySet([b, a])
    assert object_identity.Reference(a) != object_identity.Reference(b)
    with pytest.raises(TypeError, match="deref"):
        object_identity.Reference(a) == a  # noqa: B015


@pytest.mark.parametrize("kind", ["ObjectIdentityWeakKeyDictionary", "ObjectIdentityWeakSet"])
def test_weak_ones_forget(kind):
    kept, dropped = AlwaysEqual(), AlwaysEqual()
    container = getattr(object_identity, kind)()
    put = container.add if kind == "ObjectIdentityWeakSet" else lambda key: container.__setitem__(key, 1)
    put(kept)
    put(dropped)
    assert len(container) == 2
    del dropped
    assert [found is kept for found in container] == [True]


def test_decorators_describe_themselves():
    def doubled(function):
        def call(*args):
            return 2 * function(*args)

        return tf_decorator.make_decorator(function, call)

    @doubled
    def grow(x, by=3):
        """Adds."""
        return x + by

    (decorator,), target = tf_decorator.unwrap(grow)
    assert (decorator.decorator_name, target(1, 1), grow(1, 1)) == ("doubled", 2, 4)
    assert tf_inspect.getargspec(grow) == tf_inspect.ArgSpec(["x", "by"], None, None, (3,))
    assert function_utils.get_func_code(grow) is target.__code__
    assert tf_decorator.rewrap(grow, target, abs) is grow
    assert tf_decorator.unwrap(grow)[1] is abs


def test_a_partials_open_arguments():
    def function(a, b=1, c=2):
        del a, b, c

    assert tf_inspect.getargspec(functools.partial(function, 0, c=5)) == tf_inspect.ArgSpec(
        ["b", "c"], None, None, (1, 5)
    )
    with pytest.raises(ValueError, match="have no default"):
        tf_inspect.getargspec(functools.partial(lambda a, b: None, a=1))


def test_calls_are_handed_to_types_that_can():
    class Kilo:
        pass

    @dispatch.add_dispatch_support
    def total(values):
        raise TypeError("numbers only")

    @dispatch.dispatch_for_types(total, Kilo)
    def total_of_kilos(values):
        return len(values)

    assert total([Kilo(), Kilo()]) == 2
    with pytest.raises(TypeError, match="numbers only"):
        total([1])
    with pytest.raises(AssertionError, match="must take the arguments"):
        dispatch.dispatch_for_types(total, Kilo)(lambda other: None)


def test_a_lock_of_groups():
    lock = lock_util.GroupLock(2)
    order = []
    lock.acquire(0)
    other = threading.Thread(target=lambda: (lock.acquire(1), order.append("other"), lock.release(1)))
    other.start()
    with lock.group(0):
        order.append("same")
    lock.release(0)
    other.join(10)
    assert order == ["same", "other"]
    with pytest.raises(ValueError, match="groups 0 to 1"):
        lock.acquire(2)


def test_public_names_are_kept():
    @deprecation.deprecated_endpoints("old")
    @tf_export.tf_export("a.b", v1=["old", "a.c"])
    def function():
        pass

    assert tf_export.get_v1_names(function) == ["old", "a.c"]
    assert tf_export.get_v2_names(function) == ["a.b"]
    assert tf_export.get_canonical_name_for_symbol(function) == "a.b"
    with pytest.raises(tf_export.SymbolAlreadyExposedError):
        tf_export.tf_export("again")(function)
    with pytest.raises(tf_export.InvalidSymbolNameError):
        tf_export.tf_export("estimator.x")


def test_what_a_node_parses():
    features = {"a": tf.FixedLenFeature([2], tf.float32, [1.0, 2.0]), "b": tf.VarLenFeature(tf.int64)}
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.parse_example(tf.placeholder(tf.string, [None]), features)
        node = next(op for op in graph.get_operations() if op.type == "ParseExample")
        found = example_parser_configuration.extract_example_parser_configuration(node, session)
    dense, sparse = found.feature_map["a"].fixed_len_feature, found.feature_map["b"].var_len_feature
    assert dense.values_output_tensor_name == "ParseExample/ParseExample:3"
    assert tf.make_ndarray(dense.default_value).tolist() == [1.0, 2.0]
    assert sparse.indices_output_tensor_name == "ParseExample/ParseExample:0"


def test_documents():
    notice = decorator_utils.add_notice_to_docstring("One.\n\n  Two", "do this", "none", "(old)", ["It goes."])
    assert notice == "One. (old)\n\nWarning: It goes.\ndo this\n\nTwo"
    assert decorator_utils._normalize_docstring("a\n    b\n\n") == "a\nb"
    assert deprecation.rewrite_argument_docstring("a: `a`", "a", "z") == "z: `z`"
    with pytest.raises(LookupError):
        all_util.reveal_undocumented("everflow.no_such_name")


def test_names_that_are_taken_from_a_module_come_back():
    module = sys.modules["shown"] = types.ModuleType("shown", "@@told\n")
    module.told, module.untold, module._own = 1, 2, 3
    all_util.remove_undocumented("shown")
    assert [name for name in vars(module) if not name.startswith("__")] == ["told", "_own"]
    all_util.reveal_undocumented("shown.untold")
    assert module.untold == 2


def test_what_stands_for_a_function_is_called_by_the_others():
    @deprecation.deprecated("2016-07-04", "Do that.", warn_once=False)
    def old():
        pass

    with tf.test.mock.patch.object(tf_logging, "warning") as warned:
        old()
        with deprecation.silence():
            old()
    assert warned.call_count == 1
    assert tf_logging.warning is tf.logging.warning


@pytest.mark.parametrize(
    "use, errors",
    [(lambda x: None, 1), (lambda x: x.mark_used(), 0), (lambda x: x + 1, 0), (lambda x: x.name, 0), (tf.identity, 0)],
)
def test_results_that_nobody_uses_are_told_of(use, errors):
    @tf_should_use.should_use_result
    def made():
        return tf.constant(1)

    with tf.Graph().as_default(), tf.test.mock.patch.object(tf_logging, "error") as error:
        result = made()
        assert isinstance(result, tf.Tensor)
        use(result)
        del result
        gc.collect()
    assert error.call_count == errors


def test_ops_by_their_own_names_take_keywords():
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(gen_math_ops.Abs(x=-1.0)) == 1.0
    with pytest.raises(TypeError, match="keyword"):
        gen_math_ops.Abs(-1.0)
    assert callable(gen_stateful_random_ops.stateful_standard_normal)
    assert callable(rnn_cell_impl._concat)


def test_public_ops_ask_dispatchers_of_types_of_ones_own():
    from tensorflow.python.ops import math_ops
    from tensorflow.python.util import dispatch

    class Money:
        def __init__(self, amount):
            self.amount = amount

    before = tf.subtract

    @dispatch.dispatch_for_types(tf.subtract, Money)
    def subtract(x, y, name=None):
        return Money(x.amount - y.amount)

    assert tf.subtract is before and tf.subtract(Money(5), y=Money(3)).amount == 2
    assert math_ops.subtract(Money(5), Money(4)).amount == 1
    assert str(inspect.signature(tf.subtract)) == "(x, y, name=None)"
    with tf.Graph().as_default(), tf.Session() as sess:
        assert sess.run(tf.subtract(5.0, 3.0)) == 2.0
        with pytest.raises(TypeError):
            tf.subtract(object(), 1.0)
    with pytest.raises(AssertionError, match="must take the arguments"):
        dispatch.dispatch_for_types(tf.subtract, Money)(lambda x: x)
    for refused in (tf.Variable, len, tf.add_to_collection):
        with pytest.raises(AssertionError):
            dispatch.OpDispatcher().register(refused)


def test_stacks_as_a_thread_wants_them():
    here = __file__

    def frames():
        return tf_stack.convert_stack(tf_stack.extract_stack())

    assert frames()[-1][:3:2] == (here, "frames") and len(frames()[-1]) == 4
    assert len(tf_stack.convert_stack(tf_stack.extract_stack(limit=1), include_func_start_lineno=True)[0]) == 5
    with tf_stack.CurrentModuleFilter():
        assert all(frame[0] != here for frame in frames())
    first = frames.__code__.co_firstlineno

    class Elsewhere(tf_stack.StackTraceMapper):
        def get_effective_source_map(self):
            return {(here, first + 1): ("other.py", 7, "translated")}

    with Elsewhere():
        assert frames()[-1][:3] == ("other.py", 7, "translated")
    assert frames()[-1][0] == here


def test_arguments_and_names_of_callables():
    def function(a, b=2, *rest, **others):
        return a

    class Holder:
        def method(self, x):
            return x

    assert tf_inspect.getcallargs(function, 1, z=4) == {"a": 1, "b": 2, "z": 4}
    assert tf_inspect.FullArgSpec is inspect.FullArgSpec
    assert function_utils.get_func_name(functools.partial(function)) == "<class 'functools.partial'>"
    assert function_utils.get_func_name(Holder().method).endswith("Holder.method")
    with pytest.raises(ValueError, match="no function"):
        keyword_args.keyword_args_only(3)
    assert is_in_graph_mode.IS_IN_GRAPH_MODE()
    assert nest._STRUCTURES_HAVE_MISMATCHING_LENGTHS.format(input_length=1, shallow_length=2)
    pairs = {"a": 1}.items()
    assert nest.pack_sequence_as(pairs, nest.flatten(pairs)) == [("a", 1)]
    proto = tf.AttrValue(f=1.23456789)
    assert compare.NormalizeNumberFields(proto).f == pytest.approx(1.234568)
