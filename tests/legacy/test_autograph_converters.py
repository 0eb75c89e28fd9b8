"""`autograph.converters`, each by itself, as tests of them run: `converter_testing.TestCase`."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf
import tests.served  # noqa: F401

# isort: off
from tensorflow.python.autograph.converters import break_statements, call_trees, continue_statements, control_flow
from tensorflow.python.autograph.converters import directives, function_scopes, lists, logical_expressions
from tensorflow.python.autograph.converters import return_statements
from tensorflow.python.autograph.core import ag_ctx, converter, converter_testing, function_wrappers
from tensorflow.python.autograph.impl import api, conversion
from tensorflow.python.autograph.lang import directives as lang
from tensorflow.python.autograph.pyct import anno
# isort: on


class _Case(converter_testing.TestCase):
    def runTest(self):
        pass


def converted(function, *modules, namespace=None):
    return _Case().converted(function, modules, namespace or {})


def found(n):
    total = 0
    for i in range(n):
        if i == 2:
            continue
        if i > 5:
            break
        if total > 100:
            return -1
        total += i
    return total


def test_jumps_and_branches_keep_what_a_function_gives():
    steps = (break_statements, continue_statements, return_statements, control_flow)
    with converted(found, *steps) as module:
        assert [module.found(n) for n in (0, 3, 9)] == [found(n) for n in (0, 3, 9)]


def halved(x, o):
    while x > 1:
        x = x // 2
        if x > 3:
            o.steps += 1
    return x


def test_tensors_decide():
    class Counter:
        steps = 0

    with tf.Graph().as_default(), tf.Session() as session, converted(halved, control_flow) as module:
        counter = Counter()
        counter.steps = tf.constant(0)
        result = module.halved(tf.constant(40), counter)
        assert session.run([result, counter.steps]) == [1, 3]


def called(f, a, b):
    return f(a, *b, c=1)


def test_calls_go_by_way_of_one_function():
    case = _Case()
    with case.converted(called, (function_scopes, call_trees), {}) as module:
        assert module.called(lambda *args, **kwargs: (args, kwargs), 1, [2]) == ((1, 2), {"c": 1})
        assert case.dynamic_calls == [((1, 2), {"c": 1})]


def taken(a, b):
    items = [a]
    items.append(b)
    last = items.pop()
    return last, items == [a] and not b < a


def test_lists_and_logic():
    with converted(taken, lists, logical_expressions) as module:
        assert module.taken(1, 2) == (2, True)


def looped(x):
    while x:
        lang.set_loop_options(parallel_iterations=3)
        x -= 1
    return x


def test_directives_become_notes():
    node, context = _Case().prepare(looped, {"lang": lang})
    loop = directives.transform(node, context).body[0]
    told = anno.getanno(loop, converter.AgAnno.DIRECTIVES)
    assert list(told[lang.set_loop_options]) == ["parallel_iterations"] and len(loop.body) == 1


def test_contexts_of_functions():
    options = converter.ConversionOptions(optional_features=converter.Feature.NAME_SCOPES)
    with tf.Graph().as_default():
        with function_wrappers.FunctionScope("_f", "scope", options) as scope:
            assert tf.constant(1).op.name == "fn_f/Const" and scope.mark_return_value(3) == 3
    assert ag_ctx.control_status_ctx().status is ag_ctx.Status.UNSPECIFIED
    assert api.do_not_convert(lambda: ag_ctx.control_status_ctx().status)() is ag_ctx.Status.DISABLED


class Absolute:
    def __call__(self, x):
        if x < 0:
            x = -x
        return x


def test_what_is_called_is_converted():
    options = converter.ConversionOptions(recursive=True)
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(api.converted_call(Absolute(), options, (tf.constant(-2),), None)) == 2
        unwanted = ag_ctx.ControlStatusCtx(status=ag_ctx.Status.DISABLED)
        with pytest.raises(TypeError):
            api.tf_convert(Absolute().__call__, unwanted)(tf.constant(-2))
    assert conversion.is_whitelisted_for_graph(np.zeros) and not conversion.is_whitelisted_for_graph(found)
    program = converter.ProgramContext(options=options, autograph_module=api)
    (node,), name, _ = conversion.convert_entity_to_ast(found, program)
    assert name == node.name == "tf__found"
