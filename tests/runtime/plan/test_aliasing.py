"""Which values share memory: what is copied, what may be written over, and what a write changes."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.runtime.plan.aliasing import Aliases
from tests.runtime.plan.sessions import assert_same_bits, compiled, node_of, plain, reference

SIZE = 1 << 13


# --- what a caller fetches is its own -------------------------------------------------------------

VIEWS = {
    "itself": lambda t: tf.identity(t),
    "reshaped": lambda t: tf.reshape(t, [4, 2]),
    "transposed": lambda t: tf.transpose(t),
    "sliced": lambda t: t[1:, :2],
    "rows": lambda t: t[1:],
    "row": lambda t: t[0],
    "unstacked": lambda t: tf.unstack(t)[1],
    "split": lambda t: tf.split(t, 2, 0)[0],
    "squeezed": lambda t: tf.squeeze(tf.expand_dims(t, 0), 0),
    "stopped": lambda t: tf.stop_gradient(t),
    "times one": lambda t: t * 1.0,
    "minus zero": lambda t: t - 0.0,
    "summed over nothing": lambda t: tf.reduce_sum(t, []),
    "tiled once": lambda t: tf.tile(t, [1, 1]),
    "broadcast": lambda t: tf.broadcast_to(t, [2, 4]),
    "concatenated": lambda t: tf.concat([t], 0),
    "chosen": lambda t: tf.cond(tf.constant(True), lambda: t, lambda: t + 1.0),
    "gone round": lambda t: tf.while_loop(lambda i, v: i < 1, lambda i, v: (i + 1, v), [0, t])[1],
    "in an array": lambda t: tf.TensorArray(tf.float32, 1).write(0, t).read(0),
    "checked": lambda t: tf.check_numerics(t, "bad"),
    "added up": lambda t: raw.AddN(inputs=[t]),
    "cast": lambda t: raw.Cast(x=t, DstT=tf.float32),
    "diagonal": lambda t: tf.linalg.diag_part(tf.reshape(t, [2, 2, 2])),
}
VALUE = np.arange(8, dtype=np.float32).reshape(2, 4)


@pytest.mark.parametrize("view", VIEWS)
def test_fetched_arrays_share_memory_with_nothing(view):
    x = tf.placeholder(tf.float32, [2, 4])
    constant = tf.constant(VALUE)
    ref = tf.Variable(VALUE, use_resource=False)
    resource = tf.Variable(VALUE, use_resource=True)
    fetches = [VIEWS[view](tf.convert_to_tensor(t)) for t in (x, constant, ref, resource) * 2]
    fed = VALUE.copy()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        runs = []
        for _ in range(2):
            arrays = sess.run(fetches, {x: fed})
            for i, one in enumerate(arrays):
                assert not np.shares_memory(one, fed)
                assert not any(np.shares_memory(one, other) for other in arrays[i + 1 :])
            runs.append([a.copy() for a in arrays])
            for a in arrays:
                a[...] = -1.0
        for one, other in zip(*runs, strict=True):
            np.testing.assert_array_equal(one, other)
        for kept in sess.run([constant, ref, resource]):
            np.testing.assert_array_equal(kept, VALUE)
    np.testing.assert_array_equal(fed, VALUE)


def test_what_was_fed_is_given_back_as_it_came_and_only_that():
    x = tf.placeholder(tf.float32, [2, 4])
    fed = VALUE.copy()
    with tf.Session() as sess:
        same, other = sess.run([x, tf.identity(x)], {x: fed})
    assert same is fed and not np.shares_memory(other, fed)


# --- snapshots ------------------------------------------------------------------------------------


def test_a_resource_read_that_is_used_after_a_write_is_copied():
    v = tf.Variable([1.0, 2.0], use_resource=True)
    read = v.read_value()
    with tf.control_dependencies([read]):
        written = v.assign([5.0, 6.0], read_value=False)
    with tf.control_dependencies([written]):
        late = raw.Neg(x=read)
    early = raw.Exp(x=read)
    with tf.control_dependencies([early]):
        after = v.assign_add([1.0, 1.0], read_value=False)
    assert compiled([late, written]).copies == 1
    assert compiled([early, after]).copies == 0
    assert compiled([late]).copies == 1
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(late).tolist() == [-1.0, -2.0] and sess.run(v).tolist() == [5.0, 6.0]


def test_of_two_reads_only_that_is_copied_which_needs_it():
    v = tf.Variable([1.0, 2.0], use_resource=True)
    early, kept = v.read_value(), v.read_value()
    used = raw.Exp(x=early)
    with tf.control_dependencies([used, kept]):
        written = v.assign([5.0, 6.0], read_value=False)
    with tf.control_dependencies([written]):
        late = raw.Neg(x=kept)
    plan = compiled([used, late])
    assert plan.copies == 1 and plan.emitted.source.count("copied(") == 1
    with tf.Session() as sess:
        sess.run(v.initializer)
        first, second = sess.run([used, late])
        np.testing.assert_allclose(first, np.exp([1.0, 2.0]), rtol=1e-6)
        assert second.tolist() == [-1.0, -2.0]


def test_a_view_of_a_read_keeps_the_read_alive():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=True)
    row = tf.reshape(v.read_value()[1:], [2])
    with tf.control_dependencies([row]):
        written = v.assign(tf.zeros([2, 2]), read_value=False)
    with tf.control_dependencies([written]):
        late = raw.Neg(x=row)
    assert compiled(late).copies >= 1
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(late).tolist() == [-3.0, -4.0]


def test_without_a_write_nothing_is_copied():
    v = tf.Variable([1.0, 2.0], use_resource=True)
    w = tf.Variable([1.0, 2.0], use_resource=True)
    read = v.read_value()
    with tf.control_dependencies([read]):
        other = w.assign([5.0, 6.0], read_value=False)
    with tf.control_dependencies([other]):
        assert compiled(raw.Neg(x=read)).copies == 0


def agree(build, runs=2):
    """What `build()` gives, (initializer, fetches), is the same by plan and by reference, run for run."""
    initializer, fetches = build()
    results = []
    for session in (tf.Session, plain, reference):
        with session() as sess:
            sess.run(initializer)
            results.append([sess.run(fetches) for _ in range(runs)])
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            for a, b in zip(one, two, strict=True):
                assert_same_bits(a, b)
    return results[0]


def test_a_ref_read_shows_later_writes_and_parts_of_it_do_not():
    def build():
        v = tf.Variable([1.0, 2.0, 3.0], use_resource=False)
        read = v.value()
        part, summed = read[1:2] + 0.0, raw.Slice(input=read, begin=[1], size=[2])
        with tf.control_dependencies([part, summed]):
            written = tf.assign(v, [10.0, 20.0, 30.0])
        with tf.control_dependencies([written]):
            shown, kept, slice_kept = raw.Neg(x=read), raw.Neg(x=part), raw.Neg(x=summed)
        return v.initializer, [shown, kept, slice_kept]

    shown, kept, slice_kept = agree(build)[0]
    assert shown.tolist() == [-10.0, -20.0, -30.0] and kept.tolist() == [-2.0] and slice_kept.tolist() == [-2.0, -3.0]


@pytest.mark.parametrize("use_resource", [False, True])
def test_reads_and_writes_in_a_loop(use_resource):
    def build():
        v = tf.get_variable(f"v{use_resource}", initializer=[1.0, 2.0], use_resource=use_resource)

        def body(i, last, seen):
            now = v.read_value() if use_resource else tf.identity(v)
            kept = now * 1.0
            with tf.control_dependencies([kept, now]):
                written = tf.assign_add(v, kept + last)
            with tf.control_dependencies([written]):
                return i + 1, tf.identity(kept), seen + kept * (now if use_resource else kept)

        _, last, seen = tf.while_loop(lambda i, *_: i < 3, body, [0, tf.zeros([2]), tf.zeros([2])])
        with tf.control_dependencies([last, seen]):
            return v.initializer, [last, seen, v.read_value()]

    last, seen, end = agree(build)[0]
    values = [0.0, 1.0]
    for _ in range(3):
        values.append(2 * values[-1] + values[-2])
    values = values[1:]
    assert (
        float(last[0]) == values[2] and float(end[0]) == values[3] and float(seen[0]) == sum(v * v for v in values[:3])
    )


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_value_that_was_read_before_a_loop_which_writes(use_resource):
    def build():
        v = tf.get_variable(f"v{use_resource}", initializer=[1.0, 2.0], use_resource=use_resource)
        before = tf.reshape(v.read_value() if use_resource else tf.identity(v) * 1.0, [2, 1])

        def body(i, total):
            with tf.control_dependencies([total]):
                written = tf.assign_add(v, [10.0, 10.0])
            with tf.control_dependencies([written]):
                return i + 1, total + tf.reshape(before, [2])

        _, total = tf.while_loop(lambda i, t: i < 3, body, [0, tf.zeros([2])])
        return v.initializer, [total]

    assert agree(build, 1)[0][0].tolist() == [3.0, 6.0]


@pytest.mark.parametrize("use_resource", [False, True])
def test_what_an_array_or_a_stack_holds_is_of_its_time(use_resource):
    def build():
        v = tf.get_variable(f"v{use_resource}", initializer=[1.0, 2.0], use_resource=use_resource)
        read = v.read_value() if use_resource else tf.identity(v) * 1.0
        held = tf.TensorArray(tf.float32, 1).write(0, read)
        stack = raw.StackV2(max_size=-1, elem_type=tf.float32)
        pushed = raw.StackPushV2(handle=stack, elem=read)
        with tf.control_dependencies([held.flow, pushed]):
            written = tf.assign(v, [7.0, 8.0])
        with tf.control_dependencies([written]):
            popped = raw.StackPopV2(handle=raw.Identity(input=stack), elem_type=tf.float32)
            return v.initializer, [held.read(0) * 1.0, popped]

    for values in agree(build, 1)[0]:
        assert values.tolist() == [1.0, 2.0]


# --- memory that is written over ------------------------------------------------------------------


def source(fetches, feeds=()):
    return compiled(fetches, feeds).emitted.source


def large():
    return tf.placeholder(tf.float32, [SIZE])


def test_large_chains_are_computed_in_place():
    x = large()
    assert source(raw.Tanh(x=raw.Exp(x=raw.Neg(x=x))), [x]).count("out=") == 2
    assert source(raw.AddV2(x=raw.Exp(x=x), y=raw.Neg(x=x)), [x]).count("out=") == 1


FORBIDDEN = {
    "fed": lambda x: [raw.Neg(x=x)],
    "fetched": lambda x: [(y := raw.Exp(x=x)), raw.Neg(x=y)],
    "seen through a view that is fetched": lambda x: [tf.reshape((y := raw.Exp(x=x)), [2, SIZE // 2]), raw.Neg(x=y)],
    "constant": lambda x: [raw.Neg(x=tf.constant(np.ones(SIZE, np.float32)))],
    "a variable": lambda x: [raw.Neg(x=tf.Variable(tf.zeros([SIZE])).value())],
    "put into an array": lambda x: [tf.TensorArray(tf.float32, 1).write(0, (y := raw.Exp(x=x))).read(0), raw.Neg(x=y)],
}


@pytest.mark.parametrize("case", FORBIDDEN)
def test_memory_that_somebody_else_has_is_not_written_over(case):
    x = large()
    fetches = FORBIDDEN[case](x)
    assert "out=" not in source(fetches, [x])
    value = np.linspace(-1, 1, SIZE).astype(np.float32)
    with tf.Session() as sess, reference() as other:
        for each in (sess, other):
            each.run(tf.global_variables_initializer())
        for one, two in zip(sess.run(fetches, {x: value}), other.run(fetches, {x: value}), strict=True):
            assert_same_bits(one, two)


def test_memory_that_is_needed_later_is_written_over_by_the_last_only():
    x = large()
    y = raw.Exp(x=x)
    view = raw.Reshape(tensor=y, shape=tf.constant([2, SIZE // 2]))
    one = raw.Tanh(x=y)
    other = raw.Neg(x=view)
    both = raw.AddV2(x=one, y=raw.Reshape(tensor=other, shape=tf.constant([SIZE])))
    plan = compiled(both, [x])
    name = plan.emitted.names[node_of(plan, "Exp"), 0]
    tanh = next(line for line in plan.emitted.source.splitlines() if f"k{node_of(plan, 'Tanh').index}(" in line)
    assert f"out={name}" not in tanh
    value = np.linspace(-1, 1, SIZE).astype(np.float32)
    with tf.Session() as sess, reference() as plain_session:
        assert_same_bits(sess.run(both, {x: value}), plain_session.run(both, {x: value}))


def test_what_goes_round_in_a_loop_or_comes_from_outside_is_not_written_over():
    x = large()
    y = raw.Exp(x=x)
    body = lambda i, v: (i + 1, raw.Tanh(x=raw.AddV2(x=v, y=y)))  # noqa: E731
    result = tf.while_loop(lambda i, v: i < 3, body, [0, raw.Neg(x=x)])[1]
    plan = compiled(result, [x])
    assert plan.emitted.source.count("out=") == 1  # the sum, by tanh
    value = np.linspace(-1, 1, SIZE).astype(np.float32)
    with tf.Session() as sess, reference() as other:
        assert_same_bits(sess.run(result, {x: value}), other.run(result, {x: value}))


def test_classes_of_a_program():
    x = tf.placeholder(tf.float32, [4])
    y = raw.Exp(x=x)
    view = raw.Reshape(tensor=y, shape=tf.constant([2, 2]))
    plan = compiled([raw.Neg(x=view), raw.Abs(x=y)], [x])
    aliases = Aliases(plan.program)
    made, seen = node_of(plan, "Exp"), node_of(plan, "Reshape")
    assert aliases.class_of((made, 0)) is aliases.class_of((seen, 0))
    assert aliases.class_of((made, 0)) is not aliases.class_of((node_of(plan, "Abs"), 0))
    assert aliases.class_of((node_of(plan, "_Feed"), 0)).is_shared and not aliases.class_of((made, 0)).is_shared


# --- handles and references that travel --------------------------------------------------------


def two_variables(use_resource=True):
    return [
        tf.get_variable(name, initializer=start, use_resource=use_resource)
        for name, start in (("v", [1.0, 2.0]), ("w", [10.0, 20.0]))
    ]


def swapped_in_a_loop():
    """Handles change places in each round; what was read before stays as it was."""
    v, w = two_variables()
    shown = tf.reshape(v.read_value(), [2, 1])

    def body(i, one, other):
        with tf.control_dependencies([raw.AssignAddVariableOp(resource=one, value=tf.ones([2]))]):
            return i + 1, other, one

    with tf.control_dependencies([shown]):
        start = tf.constant(0)
    i, one, other = tf.while_loop(
        lambda i, *_: i < 3, body, [start, v.handle, w.handle], back_prop=False, parallel_iterations=1
    )
    with tf.control_dependencies([i]):
        read = [raw.ReadVariableOp(resource=handle, dtype=tf.float32) for handle in (one, other)]
        return [*read, tf.identity(shown)], {}


def chosen_by_a_branch(use_resource, taken):
    v, w = two_variables(use_resource)
    p = tf.placeholder(tf.bool, [])
    switch, merge = (raw.Switch, raw.Merge) if use_resource else (raw.RefSwitch, raw.RefMerge)
    of_v, of_w = (switch(data=x.handle if use_resource else x._variable, pred=p) for x in (v, w))
    chosen = merge(inputs=[of_v.output_false, of_w.output_true])[0]
    shown = [tf.reshape(x.read_value() if use_resource else tf.identity(x) * 1.0, [2, 1]) for x in (v, w)]
    with tf.control_dependencies(shown):
        if use_resource:
            write = raw.AssignAddVariableOp(resource=chosen, value=tf.ones([2]))
        else:
            write = raw.AssignAdd(ref=chosen, value=tf.ones([2])).op
    with tf.control_dependencies([write]):
        return [tf.identity(x) for x in (*shown, v, w)], {p: taken}


def written_by_a_function():
    v, _ = two_variables()

    @tf.function
    def add(x):
        v.assign_add(x)
        return v * 2.0

    shown = tf.reshape(v.read_value(), [2, 1])
    with tf.control_dependencies([shown]):
        result = add(tf.ones([2]))
    with tf.control_dependencies([result]):
        return [result, tf.identity(shown), v.read_value()], {}


@pytest.mark.parametrize(
    "build",
    [
        swapped_in_a_loop,
        *(lambda r=r, t=t: chosen_by_a_branch(r, t) for r in (True, False) for t in (True, False)),
        written_by_a_function,
    ],
    ids=["loop", "handle taken", "handle not taken", "ref taken", "ref not taken", "function"],
)
def test_a_write_by_way_of_a_handle_that_travelled(build):
    fetches, feeds = build()
    results = []
    for make in (tf.Session, plain, reference):
        with make() as sess:
            sess.run(tf.global_variables_initializer())
            runs = [sess.run(fetches, feeds) for _ in range(2)]
            results.append([value.tolist() for run in runs for value in run])
    assert results[0] == results[1] == results[2]
    assert results[0][: len(fetches)] != results[0][len(fetches) :]  # something was written
