"""The matcher and the worklist, on rules of the tests' own."""

import numpy as np
import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.runtime.plan.patterns import (
    ANY,
    Bits,
    Context,
    Match,
    Pass,
    Rule,
    Rules,
    chosen,
    const,
    matches,
    op,
    rewrite,
    value,
)
from everflow.runtime.plan.verify import verify
from tests.runtime.plan.sessions import AGGRESSIVE, OFF, config, node_of, types

x, y = value("x"), value("y")
TWICE = Rule("twice negated", "remapping", op("Neg", op("Neg", x, alone=True)), lambda m: m.x)
LOG = Rule("log of exp", "remapping", op("Log", op("Exp", x)), lambda m: m.x)
SQUARE = Rule("squares", "remapping", op("Mul", x, x), lambda m: m.node("Square", [m.x], T=m.root.output_dtypes[0]))


def context(fetches, feeds=()):
    """A program as it was drawn, with what rules may ask."""
    with tf.Session(config=config(disable_meta_optimizer=True)) as sess:
        executor = sess._executor
        plan = executor.compile(fetches if isinstance(fetches, list) else [fetches], list(feeds))
        program = plan.program
        program.keeps_journal = True
        return Context(program, executor.state, checks=True)


def applied(fetches, feeds, *rules):
    """(name → how often, the types that are left)."""
    found = context(fetches, feeds)
    changes = rewrite(found, [Rules(rules)])
    verify(found.program)
    return changes, [node.type for node in found.program.nodes() if node.type not in ("_Feed", "Const", "_Value")]


def feed():
    return tf.placeholder(tf.float32, [3])


def test_a_fixed_point_is_reached():
    a = feed()
    result = a
    for _ in range(6):
        result = raw.Neg(x=result)
    changes, left = applied(raw.Abs(x=result), [a], TWICE)
    assert changes == {"twice negated": 3} and left == ["Abs"]


def test_one_rule_makes_room_for_another():
    a = feed()
    # Once the pair in the middle is gone, so is the next one.
    result = raw.Log(x=raw.Neg(x=raw.Neg(x=raw.Exp(x=a))))
    for rules in ((TWICE, LOG), (LOG, TWICE)):
        changes, left = applied(raw.Abs(x=result), [a], *rules)
        assert changes == {"twice negated": 1, "log of exp": 1} and left == ["Abs"]


def test_a_rule_that_changes_nothing_ends():
    a = feed()
    copies = Rule("copies", "remapping", op("Identity"), lambda m: m.root.inputs[0])
    fetches = [raw.Identity(input=a) for _ in range(4)]
    assert applied(fetches, [a], copies) == (
        {},
        ["Identity"] * 4,
    )  # whoever fetches what is fed gets an array of its own
    assert applied([f.op for f in fetches], [a], copies) == ({}, ["Identity"] * 4)


def test_a_part_that_others_take_is_not_alone():
    a = feed()
    inner = raw.Neg(x=a)
    outer = raw.Neg(x=inner)
    assert applied([outer, inner], [a], TWICE)[0] == {}
    assert applied([raw.AddV2(x=outer, y=raw.Exp(x=inner))], [a], TWICE)[0] == {}
    assert applied([outer, inner.op], [a], TWICE)[0] == {}
    assert applied([raw.Abs(x=outer)], [a], TWICE)[0] == {"twice negated": 1}


def test_a_part_in_another_block_is_not_alone():
    a, p = feed(), tf.placeholder(tf.bool, [])
    inner = raw.Neg(x=a)
    result = tf.cond(p, lambda: raw.Neg(x=inner), lambda: a)
    assert applied([result], [a, p], TWICE)[0] == {}
    within = tf.cond(p, lambda: raw.Abs(x=raw.Neg(x=raw.Neg(x=a))), lambda: a)
    assert applied([within], [a, p], TWICE)[0] == {"twice negated": 1}


def test_a_part_before_a_write_to_what_it_shows_does_not_move():
    v = tf.Variable([1.0, 2.0, 3.0], use_resource=False)
    inner = raw.Exp(x=v.value())
    with tf.control_dependencies([inner]):
        written = tf.assign(v, [0.0, 0.0, 0.0])
    with tf.control_dependencies([written]):
        outer = raw.Abs(x=inner)
    moved = Rule(
        "moved",
        "remapping",
        op("Abs", op("Exp", x, alone=True)),
        lambda m: m.node("Neg", [m.x], T=m.root.output_dtypes[0]),
    )
    assert applied([outer], [], moved)[0] == {}
    assert applied([raw.Abs(x=raw.Exp(x=v.value()))], [], moved)[0] == {"moved": 1}


@pytest.mark.parametrize("swapped", [False, True])
def test_inputs_in_either_order(swapped):
    a = feed()
    parts = [raw.Exp(x=a), tf.constant(2.0)]
    total = raw.AddV2(x=parts[swapped], y=parts[not swapped])
    pattern = op("AddV2", op("Exp", x), const("c"), commutes=True)
    found = context([total], [a])
    (match,) = matches(pattern, node_of_program(found, "AddV2"), found)
    assert match.x[0].type == "_Feed" and float(match.value("c")) == 2.0
    one_way = op("AddV2", op("Exp", x), const("c"))
    assert len(list(matches(one_way, node_of_program(found, "AddV2"), found))) == (not swapped)


def node_of_program(found: Context, op_type: str):
    return next(node for node in found.program.nodes() if node.type == op_type)


def test_a_name_that_stands_twice_is_one_value():
    a, b = feed(), feed()
    assert applied([raw.Mul(x=a, y=a)], [a], SQUARE) == ({"squares": 1}, ["Square"])
    assert applied([raw.Mul(x=a, y=b)], [a, b], SQUARE) == ({}, ["Mul"])


def test_references_are_no_values():
    v = tf.Variable([1.0], use_resource=False)
    found = context([raw.Neg(x=v._ref())])
    node = node_of_program(found, "Neg")
    assert node.input_dtypes[0]._is_ref_dtype
    assert list(matches(op("Neg", x), node, found)) == []
    assert len(list(matches(op("Neg"), node, found))) == 1


def test_constants_and_the_number_of_inputs():
    a = feed()
    found = context([raw.AddV2(x=a, y=tf.constant(1.0))], [a])
    node = node_of_program(found, "AddV2")
    assert len(list(matches(op("AddV2", x, y), node, found))) == 1
    assert list(matches(op("AddV2", const("c"), y), node, found)) == []
    assert list(matches(op("AddV2", x), node, found)) == []
    assert len(list(matches(ANY, node, found))) == 1
    with pytest.raises(AttributeError):
        _ = Match(node, found).nothing


def test_conditions_and_rules_that_decline():
    a = feed()
    never = Rule("never", "remapping", op("Neg", x), lambda m: m.x, lambda m: False)
    declines = Rule("declines", "remapping", op("Neg", x), lambda m: None)
    assert applied([raw.Abs(x=raw.Neg(x=a))], [a], never, declines, TWICE) == ({}, ["Neg", "Abs"])


def test_a_node_that_is_in_the_program_already_is_refused():
    a = feed()
    wrong = Rule("wrong", "remapping", op("Abs", op("Neg", name="part")), lambda m: m.part[0])
    with pytest.raises(ValueError, match="in the program already"):
        applied([raw.Abs(x=raw.Neg(x=a))], [a], wrong)


def test_a_rule_that_damages_a_program_is_named():
    a = feed()

    def damaging(m):
        made = m.node("Abs", [m.x], T=m.root.output_dtypes[0])
        m.x[0].uses[m.x[1]][made] = 2
        return made

    with pytest.raises(tf.errors.InternalError, match="after 'bad'"):
        applied([raw.Exp(x=raw.Neg(x=a))], [a], Rule("bad", "remapping", op("Neg", x), damaging))


def test_the_journal():
    a = tf.placeholder(tf.float32, [3], name="a")
    result = raw.Abs(x=raw.Neg(x=raw.Neg(x=a, name="inner"), name="outer"), name="result")
    found = context([result], [a])
    rewrite(found, [Rules((TWICE,))])
    assert found.program.journal == [("twice negated", "inner = Neg(a); outer = Neg(inner)", "a = _Feed()")]
    quiet = context([result], [a])
    quiet.program.keeps_journal = False
    rewrite(quiet, [Rules((TWICE,))])
    assert quiet.program.journal == []


def test_passes_are_counted_and_checked():
    a = feed()
    found = context([raw.Neg(x=a)], [a])
    table = [
        Pass("two", "remapping", lambda c: 2),
        Pass("none", "remapping", lambda c: 0),
        Pass("two", "remapping", lambda c: 3),
    ]
    assert rewrite(found, table) == {"two": 5}

    def damaging(c):
        node_of_program(c, "Neg").controls = [node_of_program(c, "_Feed")]
        return 1

    with pytest.raises(tf.errors.InternalError, match="after 'bad pass'"):
        rewrite(found, [Pass("bad pass", "remapping", damaging)])


# --- switches -------------------------------------------------------------------------------------

EXACT = Pass("exact", "remapping", lambda c: 0)
ROUNDED = Pass("rounded", "remapping", lambda c: 0, Bits.ROUNDED)
REORDERED = Pass("reordered", "remapping", lambda c: 0, Bits.REORDERED)
ROUNDED_RULE = Rule("rounded rule", "remapping", op("Neg", x), lambda m: None, bits=Bits.ROUNDED)


def names(settings):
    found = []
    for item in chosen([EXACT, Rules((TWICE, ROUNDED_RULE)), ROUNDED, REORDERED, Rules((ROUNDED_RULE,))], settings):
        found += [rule.name for rule in item.members] if isinstance(item, Rules) else [item.name]
    return found


def test_switches_choose_rules():
    default = ["exact", "twice negated", "reordered"]
    assert names(None) == names(config()) == default
    assert names(config(remapping=OFF)) == []
    assert names(config(arithmetic_optimization=OFF)) == default
    assert names(config(remapping=AGGRESSIVE)) == [
        "exact",
        "twice negated",
        "rounded rule",
        "rounded",
        "reordered",
        "rounded rule",
    ]
    assert names(config(remapping=AGGRESSIVE, disable_meta_optimizer=True)) == []
    l0 = tf.ConfigProto(
        graph_options=tf.GraphOptions(optimizer_options=tf.OptimizerOptions(opt_level=tf.OptimizerOptions.L0))
    )
    assert names(l0) == []


@pytest.mark.parametrize("settings", [{"disable_meta_optimizer": True}, {"opt_level": tf.OptimizerOptions.L0}])
def test_without_rules_every_node_runs(settings):
    a = feed()
    fetch = raw.Neg(x=raw.Identity(input=raw.Mul(x=raw.Identity(input=a), y=tf.constant(1.0))))
    if "opt_level" in settings:
        used = tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=tf.OptimizerOptions(**settings)))
    else:
        used = config(**settings)
    with tf.Session(config=used) as sess:
        plan = sess._executor.compile([fetch], [a])
        assert plan.changes == {} and types(plan).count("Identity") == 2 and node_of(plan, "Mul")
        np.testing.assert_array_equal(sess.run(fetch, {a: [1.0, 2.0, 3.0]}), [-1.0, -2.0, -3.0])
