"""The checker raises for a kernel that does other than is declared of it, and leaves alone one that keeps its word."""

import itertools
import sys
import threading

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.framework import op_defs
from everflow.framework.op_defs import ArgDef, AttrDef, OpDef
from everflow.kernels import registry
from everflow.kernels.facts import FRESH, Effect, same, view

_HELD = torch.zeros(3)
_numbers = itertools.count()


@pytest.fixture
def define(monkeypatch):
    """`define(function, **facts)` registers an op type of two inputs for one test and returns its build function."""
    monkeypatch.setenv("EVERFLOW_EXECUTOR", "CHECKED")
    op_defs.names()
    monkeypatch.setattr(op_defs, "_defs", dict(op_defs._defs))
    registry.load_all()
    monkeypatch.setattr(registry, "_kernels", dict(registry._kernels))

    def made(function, outputs=1, **facts):
        name = f"Told{next(_numbers)}"
        arguments = tuple(ArgDef(n, type_attr="T") for n in ("x", "y"))
        results = tuple(ArgDef(f"r{i}", type_attr="T") for i in range(outputs))
        op_defs.register(OpDef(name, inputs=arguments, outputs=results, attrs=(AttrDef("T", "type"),)))
        registry.kernel(name, **facts)(function)
        return getattr(tf.raw_ops, name)

    return made


def _run(build, dtype=tf.float32, values=([1, 2, 3], [4, 5, 6]), times=2):
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = tf.placeholder(dtype, [3]), tf.placeholder(dtype, [3])
        made, kept = build(x=x, y=y), []
        for _ in range(times):
            kept.append(session.run(made, dict(zip((x, y), values))))
        return kept[-1]


def _writes_its_input(x, y):
    x.add_(1)
    return x + y


def _grows(x, y):
    _HELD.add_(1)
    return _HELD + x


WRONG = {
    "an input as fresh memory": (lambda x, y: x, {"result": FRESH}, "result 0 lies in the memory of input 0"),
    "a view as fresh memory": (
        lambda x, y: y.flip(0).expand(3) if y.dim() > 1 else y[:],
        {"result": FRESH},
        "in the memory of input 1",
    ),
    "a view of another input": (lambda x, y: y.view(3), {"result": view(0)}, "lies in the memory of input 1"),
    "the same as another input": (lambda x, y: y, {"result": same(0)}, "lies in the memory of input 1"),
    "what it keeps as fresh memory": (lambda x, y: _HELD, {"result": FRESH}, "the memory that was given out before"),
    "a changed input": (_writes_its_input, {"result": FRESH, "effect": Effect.READS}, "it changed input 0"),
    "another type": (lambda x, y: x.double(), {}, "result 0 is torch.float64"),
    "something else each time": (_grows, {"effect": Effect.PURE}, "gave something else"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_not_so_is_told(define, wrong):
    function, facts, seen = WRONG[wrong]
    with pytest.raises(tf.errors.InternalError, match=f"Told.* is declared to .*{seen}"):
        _run(define(function, **facts))


def test_results_that_share_memory(define):
    def twice(x, y):
        total = x + y
        return total, total

    with pytest.raises(tf.errors.InternalError, match="results 0 and 1 share memory"):
        _run(define(twice, outputs=2, result=FRESH))


def test_a_shape_that_the_graph_does_not_expect(define):
    build = define(lambda x, y: torch.cat([x, y]), result=FRESH)

    def fixed(x, y):
        made = build(x=x, y=y)
        made.set_shape([3])
        return made

    with pytest.raises(tf.errors.InternalError, match="result 0 has"):
        _run(fixed)


def test_strings(define):
    build = define(lambda x, y: x, result=FRESH)
    words = np.array([b"a", b"b", b"c"], object)
    with pytest.raises(tf.errors.InternalError, match="lies in the memory of input 0"):
        _run(build, tf.string, (words, words))


KEPT = {
    "fresh": (lambda x, y: x + y, {"result": FRESH, "fails": False}),
    "a view": (lambda x, y: x[:], {"result": view(0)}),
    "any input": (lambda x, y: y, {"result": same()}),
    "nothing promised": (lambda x, y: _HELD, {}),
    "parts of one piece of memory": (lambda x, y: tuple(torch.stack([x, y], 1).unbind(1)), {"result": FRESH}),
}


@pytest.mark.parametrize("kept", KEPT)
def test_what_is_so_is_left_alone(define, kept):
    function, facts = KEPT[kept]
    _run(define(function, outputs=2 if kept.startswith("parts") else 1, **facts))


def test_threads_that_write_a_variable_while_others_read_it(monkeypatch, request):
    monkeypatch.setenv("EVERFLOW_EXECUTOR", "CHECKED")
    interval = sys.getswitchinterval()
    request.addfinalizer(lambda: sys.setswitchinterval(interval))
    sys.setswitchinterval(1e-5)  # threads take turns within a kernel's call
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(np.ones(100, np.float32), use_resource=False)
        step, read = variable.assign_add(np.ones(100, np.float32)).op, tf.reduce_sum(tf.exp(-variable))
        session.run(variable.initializer)
        errors = []

        def work(fetch):
            try:
                for _ in range(300):
                    session.run(fetch)
            except tf.errors.OpError as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(fetch,)) for fetch in (step, read)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors


def test_it_is_off_without_the_switch(define, monkeypatch):
    monkeypatch.delenv("EVERFLOW_EXECUTOR")
    np.testing.assert_array_equal(_run(define(lambda x, y: x, result=FRESH)), [1, 2, 3])
