"""The function that a plan becomes: what it calls, what it says of lines, and what a fetch comes back as."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.runtime.plan import emit
from everflow.runtime.plan.emit import copied, fetcher
from tests.runtime.plan.sessions import compiled, plain


def source(fetches, feeds=()):
    with plain() as sess:
        return sess._executor.compile(fetches if isinstance(fetches, list) else [fetches], list(feeds)).emitted.source


@pytest.fixture
def x():
    return tf.placeholder(tf.float32, [2], name="x")


def test_every_statement_leads_back_to_its_node(x):
    emitted = compiled(raw.Exp(x=raw.Neg(x=x, name="neg"), name="exp"), [x]).emitted
    lines = emitted.source.splitlines()
    named = {emitted.node_at(i).name: line for i, line in enumerate(lines, 1) if emitted.node_at(i) is not None}
    assert named["neg"].strip().startswith("t") and "(f0)" in named["neg"] and "exp" in named
    assert emitted.node_at(0) is emitted.node_at(len(lines) + 1) is None
    assert emitted.node_at(1) is None  # the line that says `def`


def test_what_only_renames_computes_nothing(x):
    text = source(raw.Exp(x=raw.Identity(input=raw.StopGradient(input=x))), [x])
    assert text.count("(") == text.count("(f0)") + text.count("plan(step") + text.count("out0(")


def test_a_step_is_asked_for_only_where_somebody_takes_it(x):
    assert not compiled(raw.Neg(x=x), [x]).emitted.takes_step
    assert compiled(tf.while_loop(lambda v: tf.reduce_sum(v) < 3.0, lambda v: v + 1.0, [x]), [x]).emitted.takes_step
    assert compiled(tf.FIFOQueue(1, tf.int32).dequeue()).emitted.takes_step


def test_results_that_nobody_takes_get_no_name():
    text = source(raw.Unique(x=tf.placeholder_with_default([1, 1], [2])).idx)
    assert "_, t" in text


def test_a_recorder_hears_of_each_node_and_what_it_gave(x):
    heard = []
    y = raw.Exp(x=raw.Neg(x=x, name="neg"), name="exp")
    with plain() as sess:
        recorder = lambda node, start, end, values: heard.append((node.name, end >= start > 0, len(values)))  # noqa: E731
        plan = sess._executor.compile([y], [x], recorder=recorder)
        plan([torch.zeros(2)])
    assert heard == [("neg", True, 1), ("exp", True, 1)]


def test_values_of_kernels_for_bodies_of_functions(x):
    with plain() as sess:
        (found,) = sess._executor.compile([raw.Neg(x=x)], [x], to_numpy=False)([torch.ones(2)])
    assert isinstance(found, torch.Tensor)


def test_unfed_and_unknown_nodes_fail_when_they_run_and_not_before(x, monkeypatch):
    from everflow.kernels import registry

    registry.load_all()
    monkeypatch.delitem(registry._kernels, "Cos")
    p = tf.placeholder_with_default(False, [])
    y = tf.cond(p, lambda: raw.Cos(x=tf.ones([2])) + tf.placeholder(tf.float32, [2]), lambda: tf.zeros([2]))
    with tf.Session() as sess:
        assert sess.run(y).tolist() == [0.0, 0.0]
        with pytest.raises((tf.errors.UnimplementedError, tf.errors.InvalidArgumentError)):
            sess.run(y, {p: True})


# --- what a fetch comes back as ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "value", "kind"),
    [
        (tf.float32, torch.tensor(1.5), np.float32),
        (tf.int64, torch.tensor(3), np.int64),
        (tf.bool, torch.tensor(True), np.bool_),
        (tf.complex64, torch.tensor(1j, dtype=torch.complex64), np.complex64),
        (tf.float32, torch.ones(2), np.ndarray),
        (tf.string, np.array(b"a", object), bytes),
        (tf.string, np.array([b"a"], object), np.ndarray),
    ],
)
def test_scalars_are_numpys_and_text_is_bytes(dtype, value, kind):
    found = fetcher(dtype, False)(value)
    assert type(found) is kind
    if kind not in (bytes,):
        assert found.dtype == dtype.as_numpy_dtype


@pytest.mark.parametrize("copy", [True, False])
def test_memory_is_shared_only_where_it_may_be(copy):
    value = torch.arange(6.0).reshape(2, 3)
    found = fetcher(tf.float32, copy)(value)
    value[0, 0] = 9.0
    assert (found[0, 0] == 9.0) is np.bool_(not copy)
    turned = fetcher(tf.float32, copy)(value.T)
    assert turned.flags.c_contiguous and turned.tolist() == value.T.tolist()


def test_text_is_never_shared_and_handles_are_what_they_are():
    text = np.array([b"a"], object)
    fetcher(tf.string, False)(text)[0] = b"b"
    assert text[0] == b"a"
    thing = object()
    assert fetcher(tf.resource, True)(thing) is thing


def test_copies_of_results():
    tensor, text, thing = torch.ones(2), np.array([b"a"], object), object()
    for value in ([tensor, text], (tensor, text)):
        one, two = copied(value)
        assert type(copied(value)) is type(value)
        assert one is not tensor and one.tolist() == [1, 1] and two is not text and two[0] == b"a"
    assert copied(thing) is thing


def test_a_fetch_with_a_condition_and_no_maker_is_refused(x):
    plan = compiled(raw.Neg(x=x), [x])
    plan.program.conditions = [[(0, True)]]
    plan.program.fetched_nodes = [None]
    with pytest.raises(ValueError, match="fetch 0"):
        emit.emit(plan.program, plan_aliases(plan), plan.state)


def plan_aliases(plan):
    from everflow.runtime.plan.aliasing import Aliases

    return Aliases(plan.program)


def test_names_in_a_graph_never_reach_the_source():
    a = tf.constant(1.0, name="os.system")
    y = raw.Neg(x=a, name="import_os")
    with tf.Session(
        config=tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=tf.OptimizerOptions(opt_level=-1)))
    ) as sess:
        prepared = sess._executor.compile([y], [])
    assert "os" not in prepared.emitted.source


def fetched_by_its_maker(make):
    """What a function fetches of a value in a variable of its own, and where that value's memory was."""
    fetch = fetcher(tf.float32, True, is_local=True)

    def plan():
        t0 = make()
        return t0.data_ptr(), fetch(t0)

    return plan()


def test_what_nobody_else_holds_is_handed_over():
    place, found = fetched_by_its_maker(lambda: torch.arange(6.0))
    assert found.ctypes.data == place and found.tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("held", ["tensor", "view", "array", "part"])
def test_what_somebody_else_holds_is_copied(held):
    whole = torch.arange(6.0)
    others = {"tensor": lambda: whole, "view": lambda: whole[:], "part": lambda: torch.arange(6.0)[:3]}
    others["array"] = lambda: torch.from_numpy(whole.numpy())
    place, found = fetched_by_its_maker(others[held])
    assert found.ctypes.data != place
