"""Graphs that no while loop and no branch was drawn for: Switch, Merge, Enter and their kin put together by hand, run
token by token.
"""

import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.runtime.plan.interpret import interpret


@pytest.fixture(params=[False, True], ids=["tokens", "reference"])
def run(request):
    """Runs fetches by the interpreter; what a fetch that is not there raises comes as its class."""

    def run(fetches, feeds=None, steps=1):
        with tf.Session() as sess:
            executor = sess._executor
            executor.extend()
            keys = list(feeds or {})
            plan = interpret(list(fetches), keys, executor.state, executor._placer, copying=request.param)
            values = [executor.feeder(k).feed(v) for k, v in (feeds or {}).items()]
            try:
                for _ in range(steps):
                    results = plan(values)
                return results
            except tf.errors.OpError as e:
                return type(e)

    return run


MISSING = tf.errors.InvalidArgumentError


def enter(x, frame="f", constant=False):
    return raw.Enter(data=x, frame_name=frame, is_constant=constant, parallel_iterations=10)


class Counting:
    """A loop that counts up to a limit."""

    def __init__(self, start, limit, frame="f", condition=True):
        first = enter(start, frame)
        self.merge = raw.Merge(inputs=[first, first])
        less = raw.Less(x=self.merge.output, y=enter(limit, frame, True))
        self.predicate = raw.LoopCond(input=less) if condition else less
        self.switch = raw.Switch(data=self.merge.output, pred=self.predicate)
        self.next = raw.AddV2(x=self.switch.output_true, y=enter(tf.constant(1), frame, True))
        self.merge.output.op._update_input(1, raw.NextIteration(data=self.next))
        self.exit = raw.Exit(data=self.switch.output_false)


def switch(value, predicate):
    return raw.Switch(
        data=tf.constant(value), pred=predicate if isinstance(predicate, tf.Tensor) else tf.constant(predicate)
    )


def test_a_dead_value_is_not_there_but_its_operation_may_be_run(run):
    sides = switch(3, True)
    assert run([sides.output_true]) == [3]
    assert run([sides.output_false]) is MISSING
    assert run([sides.output_true, raw.Neg(x=sides.output_false)]) is MISSING
    assert run([raw.Neg(x=sides.output_false).op]) == [None]


def test_a_loop_needs_no_mark_at_its_condition(run):
    assert run([Counting(tf.constant(0), tf.constant(5)).exit]) == [5]
    assert run([Counting(tf.constant(0), tf.constant(5), condition=False).exit]) == [5]


def test_loops_that_share_a_frame(run):
    first = Counting(tf.constant(0), tf.constant(3))
    second = Counting(tf.constant(0), tf.constant(7))
    third = Counting(first.exit, tf.constant(9))
    assert run([first.exit, second.exit, third.exit]) == [3, 7, 9]


def test_frames_without_a_loop(run):
    assert run([raw.Exit(data=raw.Neg(x=enter(tf.constant(4))))]) == [-4]
    assert run([raw.Exit(data=raw.Neg(x=enter(tf.constant(4), constant=True)))]) == [-4]


def test_an_exit_gives_the_first_value_it_gets(run):
    loop = Counting(tf.constant(0), tf.constant(4))
    two = enter(tf.constant(2), constant=True)
    middle = raw.Switch(data=loop.switch.output_true, pred=raw.Equal(x=loop.switch.output_true, y=two))
    late = raw.Switch(data=loop.switch.output_true, pred=raw.GreaterEqual(x=loop.switch.output_true, y=two))
    assert run([loop.exit, raw.Exit(data=middle.output_true), raw.Exit(data=late.output_true)]) == [4, 2, 2]
    assert run([loop.exit, raw.Exit(data=raw.Identity(input=loop.merge.output))]) == [4, 0]


def test_an_exit_is_dead_only_when_its_frame_has_ended(run):
    loop = Counting(tf.constant(0), tf.constant(3))
    never = raw.Switch(
        data=loop.switch.output_true, pred=raw.Less(x=loop.switch.output_true, y=enter(tf.constant(-1), constant=True))
    )
    dead = raw.Exit(data=never.output_true)
    assert run(list(raw.Merge(inputs=[dead, loop.exit]))) == [3, 1]
    assert run([dead]) is MISSING
    nothing = raw.Merge(inputs=[dead, raw.Neg(x=dead)])
    assert run([loop.exit, nothing.output]) is MISSING
    assert run([loop.exit, nothing.output.op]) == [3, None]


@pytest.mark.parametrize("taken, expected", [(True, [15, 0]), (False, [18, 1])])
def test_a_merge_of_two_loops_in_branches(run, taken, expected):
    sides = switch(10, taken)
    loops = [Counting(sides.output_true, tf.constant(15), "g"), Counting(sides.output_false, tf.constant(18), "h")]
    assert run(list(raw.Merge(inputs=[loop.exit for loop in loops]))) == expected
    assert run([loops[taken].exit]) is MISSING
    assert run([loops[taken].exit.op]) == [None]


def test_a_loop_without_a_limit_or_a_step_is_dead(run):
    dead = switch(3, True).output_false
    assert run([Counting(tf.constant(0), dead).exit]) is MISSING
    loop = Counting(tf.constant(0), tf.constant(3))
    loop.next.op._update_input(1, enter(dead, constant=True))
    assert run([loop.exit]) is MISSING


def test_a_variable_that_stops_coming_round(run):
    loop = Counting(tf.constant(0), tf.constant(4))
    first = enter(tf.constant(100))
    other = raw.Merge(inputs=[first, first])
    sides = raw.Switch(data=other.output, pred=loop.predicate)
    early = raw.Switch(
        data=sides.output_true, pred=raw.Less(x=loop.switch.output_true, y=enter(tf.constant(2), constant=True))
    )
    other.output.op._update_input(1, raw.NextIteration(data=early.output_true))
    stuck = raw.Exit(data=sides.output_false)
    assert run([loop.exit, stuck]) is MISSING
    assert run([loop.exit, raw.Exit(data=early.output_false)]) == [4, 100]


def test_what_waits_for_the_dead_is_dead_but_for_triggers_and_merges(run):
    sides = switch(3, True)
    dead = raw.Identity(input=sides.output_false)
    with tf.control_dependencies([dead]):
        trigger, nothing = raw.ControlTrigger(), tf.no_op()
        merged = raw.Merge(inputs=[sides.output_true, sides.output_false])
    with tf.control_dependencies([trigger]):
        alive = tf.constant(5)
    with tf.control_dependencies([nothing]):
        never = tf.constant(6)
    assert run([alive]) == [5]
    assert run([never]) is MISSING
    assert run(list(merged)) == [3, 0]


def test_values_inside_a_loop_can_be_fetched_only_if_they_are_there_once(run):
    loop = Counting(tf.constant(0), tf.constant(3))
    assert run([loop.next]) is tf.errors.InternalError
    assert run([Counting(tf.constant(0), tf.constant(1), "once").next]) == [1]
    assert run([enter(tf.constant(8))]) == [8]


def test_what_is_fed_inside_a_loop_is_there_in_every_round(run):
    x, y = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
    total = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.identity(y, name="inside")), [0, x])[1]
    inside = tf.get_default_graph().get_tensor_by_name("while/inside:0")
    assert run([total], {x: 1, y: 2}) == [7]
    assert run([total], {x: 1, inside: 10}) == [31]


def test_references_go_through_branches(run):
    ref = raw.VariableV2(shape=[], dtype=tf.int32)
    taken = tf.placeholder_with_default(True, [])
    sides = raw.RefSwitch(data=ref, pred=taken)
    with tf.control_dependencies([raw.Assign(ref=ref, value=tf.constant(1))]):
        one, hundred = tf.constant(10), tf.constant(100)
    merged = raw.RefMerge(
        inputs=[raw.AssignAdd(ref=sides.output_true, value=one), raw.AssignSub(ref=sides.output_false, value=hundred)]
    )
    assert run(list(merged)) == [11, 0]
    assert run(list(merged), {taken: False}) == [-99, 1]


def test_writes_on_the_way_out_of_a_loop(run):
    v = tf.Variable(0, use_resource=True)
    with tf.control_dependencies([v.initializer]):
        loop = Counting(tf.constant(0), tf.constant(4))
    handle = raw.Switch(data=enter(v.handle, constant=True), pred=loop.predicate).output_false
    added = raw.AssignAddVariableOp(resource=handle, value=raw.Identity(input=loop.switch.output_false))
    with tf.control_dependencies([added]):
        left = raw.Exit(data=raw.Identity(input=loop.switch.output_false))
    with tf.control_dependencies([left]):
        assert run([left, v.read_value()]) == [4, 4]


def test_frames_that_do_not_fit_are_told(run):
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="different frames"):
            sess.run(tf.no_op())
            run([raw.AddV2(x=enter(tf.constant(1), "a"), y=enter(tf.constant(1), "b"))])
        with pytest.raises(tf.errors.InvalidArgumentError, match="nothing entered"):
            run([raw.Exit(data=tf.constant(1))])
