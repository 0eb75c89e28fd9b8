"""The form a run has while it is planned: blocks of nodes, who takes what, and how rules change it."""

import pytest

import everflow as tf
from everflow.framework import raw_ops as raw
from everflow.kernels.facts import Effect
from everflow.runtime.plan import program as form
from everflow.runtime.plan.program import IF, LOOP, VALUE, Block, Node
from everflow.runtime.plan.verify import verify
from tests.runtime.plan.sessions import compiled, node_of, plain, types


def planned(fetches, feeds=()):
    """A program without rewrites."""
    with plain() as sess:
        return sess._executor.compile(fetches if isinstance(fetches, list) else [fetches], list(feeds)).program


def of_type(program, op_type):
    return next(node for node in program.nodes() if node.type == op_type)


# --- blocks ------------------------------------------------------------------------------------


def letters(block):
    backwards, node = "", block.last
    while node is not None:
        backwards, node = node.name + backwards, node.previous
    forwards = "".join(node.name for node in block)
    assert forwards == backwards and all(node.block is block for node in block)
    return forwards


def block_of(names):
    block = Block(None)
    for name in names:
        block.append(Node(0, None, name, "T"))
    return block


@pytest.mark.parametrize(("gone", "left"), [("a", "bc"), ("b", "ac"), ("c", "ab"), ("abc", ""), ("cb", "a")])
def test_nodes_leave_a_block(gone, left):
    block = block_of("abc")
    for node in [next(n for n in block if n.name == name) for name in gone]:
        block.remove(node)
        assert node.block is node.previous is node.next is None
    assert letters(block) == left


@pytest.mark.parametrize(("before", "row"), [("a", "xabc"), ("c", "abxc")])
def test_nodes_join_a_block(before, row):
    block = block_of("abc")
    place = next(n for n in block if n.name == before)
    place.order = 7
    block.insert(new := Node(0, None, "x", "T"), place)
    assert letters(block) == row and new.order == 7


def test_a_node_may_be_taken_out_while_one_goes_through():
    block = block_of("abcd")
    for node in block:
        if node.name in "bc":
            block.remove(node)
    assert letters(block) == "ad"


# --- looking round -----------------------------------------------------------------------------


def nested():
    x = tf.placeholder(tf.int32, [], name="x")
    body = lambda i, v: (i + 1, tf.cond(v > 2, lambda: v - 3, lambda: v + i))  # noqa: E731
    return tf.while_loop(lambda i, v: i < 4, body, [0, x])[1] * 2, x


def test_nodes_come_in_the_order_they_run_owners_before_what_they_hold():
    result, x = nested()
    program = planned(result, [x])
    orders = [node.order for node in program.nodes()]
    assert orders == sorted(orders) and len(set(orders)) == len(orders)
    seen = set()
    for node in program.nodes():
        assert node.block is program.top or node.block.owner in seen
        seen.add(node)
    assert {node.block for node in program.nodes()} <= set(program.blocks())
    loop = of_type(program, LOOP)
    assert [v.type for v in form.loop_variables(loop)] == ["_LoopVariable"] * 2
    assert loop.blocks[1].parent is program.top and program.top.parent is None


def test_a_copy_is_the_same_in_nodes_of_its_own():
    result, x = nested()
    program = planned(result, [x])
    copy = program.copy()
    verify(copy)
    assert [(n.name, n.type, n.order) for n in copy.nodes()] == [(n.name, n.type, n.order) for n in program.nodes()]
    assert not set(copy.nodes()) & set(program.nodes())
    copy.erase(copy.top.last)
    verify(program)


# --- changing it -------------------------------------------------------------------------------


@pytest.fixture
def chain():
    """x → Neg → Exp → (Tanh, Tanh + Exp), which is fetched."""
    x = tf.placeholder(tf.float32, [2], name="x")
    exp = raw.Exp(x=raw.Neg(x=x))
    return planned(raw.AddV2(x=raw.Tanh(x=exp), y=exp), [x])


def test_replacing_an_edge_drops_what_nobody_takes_any_more(chain):
    exp, feed = of_type(chain, "Exp"), chain.feeds[0]
    assert chain.replace((exp, 0), (feed, 0))
    assert [n.type for n in chain.top] == ["_Feed", "Tanh", "AddV2"]
    assert set(feed.uses[0]) == {of_type(chain, "Tanh"), of_type(chain, "AddV2")}
    verify(chain)


def test_a_fetch_never_becomes_a_feed(chain):
    total = of_type(chain, "AddV2")
    assert not chain.replace((total, 0), (chain.feeds[0], 0))
    assert chain.top.end.inputs == [(total, 0)]
    verify(chain)


def test_a_node_takes_the_place_of_another(chain):
    exp = of_type(chain, "Exp")
    definition = form.internal("_Mine", "x")
    new = chain.new(definition, exp.inputs, exp, factor=3)
    chain.substitute(exp, new)
    assert [n.type for n in chain.top] == ["_Feed", "Neg", "_Mine", "Tanh", "AddV2"]
    assert new.attribute("factor") == 3 and new.name == exp.name and new.index > exp.index
    verify(chain)


def test_a_constant_stands_at_the_very_top(chain):
    import torch

    exp = of_type(chain, "Exp")
    made = chain.constant(torch.tensor([1.0, 2.0]), tf.float32, exp)
    chain.replace((exp, 0), (made, 0))
    assert [n.type for n in chain.top] == [VALUE, "_Feed", "Tanh", "AddV2"] and made.shape() == [2]
    verify(chain)


def test_an_edge_that_is_taken_twice_is_counted_twice(chain):
    total, exp = of_type(chain, "AddV2"), of_type(chain, "Exp")
    chain.set_inputs(total, [(exp, 0), (exp, 0)])
    assert exp.uses[0] == {total: 2} and "Tanh" not in [n.type for n in chain.top]
    chain.set_inputs(total, [(exp, 0), (chain.feeds[0], 0)])
    assert exp.uses[0] == {total: 1}
    verify(chain)


def test_a_loop_that_nobody_takes_goes_with_what_is_in_it():
    result, x = nested()
    program = compiled(result, [x]).program
    assert LOOP in [n.type for n in program.nodes()]
    program.set_inputs(program.top.end, [(program.feeds[0], 0)])
    program.sweep()
    assert [n.type for n in program.nodes()] == ["_Feed"]
    verify(program)


def test_what_acts_stays_although_nobody_takes_it():
    variable = tf.get_variable("v", initializer=1.0, use_resource=True)
    with tf.control_dependencies([variable.assign_add(1.0)]):
        program = planned(tf.constant(2.0))
    program.sweep()
    assert "AssignAddVariableOp" in [n.type for n in program.nodes()]


# --- what is known of nodes --------------------------------------------------------------------


def test_effects():
    variable = tf.get_variable("v", initializer=1.0, use_resource=True)
    read = variable.read_value()
    program = planned([read, tf.random_uniform([]), -tf.placeholder_with_default(1.0, []), variable.assign_add(1.0).op])
    found = {node.type: node.effect for node in program.nodes()}
    assert (found["ReadVariableOp"], found["RandomUniform"]) == (Effect.READS, Effect.RANDOM)
    assert (found["Neg"], found["Const"], found["AssignAddVariableOp"]) == (Effect.PURE, Effect.PURE, Effect.ACTS)


def test_attributes_as_kernels_get_them():
    pooled = raw.MaxPool(
        input=tf.placeholder(tf.float32, [1, 2, 2, 1], name="x"), ksize=[1] * 4, strides=[1] * 4, padding="SAME"
    )
    node = of_type(planned(pooled, [tf.get_default_graph().get_tensor_by_name("x:0")]), "MaxPool")
    assert node.attribute("padding") == "SAME" and node.attribute("ksize") == [1] * 4
    del node.attrs["data_format"]
    assert node.attribute("data_format") == "NHWC"  # the default, where a file left it out
    assert form.kernel_attribute([b"a", b"\xff"]) == ["a", "\udcff"]


def test_arguments_of_a_definition_and_edges():
    a, b = tf.placeholder(tf.float32, [1], name="a"), tf.placeholder(tf.float32, [1], name="b")
    program = planned(raw.ConcatV2(values=[a, b], axis=tf.constant(0)), [a, b])
    node = of_type(program, "ConcatV2")
    assert [(argument.name, count) for argument, count in form.input_counts(node)] == [("values", 2), ("axis", 1)]
    assert form.argument_edges(node, (0,)) == node.inputs[:2] and form.argument_edges(node, (1,)) == node.inputs[2:]
    assert node.constant_input(2).item() == 0 and node.constant_input(0) is None
    node.inputs = node.inputs[:2]
    with pytest.raises(ValueError, match="has 2 tensors where its definition has 3"):
        form.input_counts(node)


def test_results_of_kernels_as_a_list():
    x = tf.placeholder(tf.int32, [2], name="x")
    fetches = [raw.Unique(x=x).y, raw.Split(split_dim=tf.constant(0), value=x, num_split=2)[0], -x, tf.no_op()]
    program = planned(fetches, [x])
    assert form.flat_results(of_type(program, "Unique"), ("y", "idx")) == ["y", "idx"]
    assert form.flat_results(of_type(program, "Split"), ["a", "b"]) == ["a", "b"]
    assert form.flat_results(of_type(program, "Neg"), "n") == ["n"]


def test_shapes():
    x, y = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32, [None])
    program = planned([raw.AddV2(x=-x, y=raw.Exp(x=y))], [x, y])
    neg, exp = of_type(program, "Neg"), of_type(program, "Exp")
    assert neg.shape() == [2] and exp.shape() is None
    assert form.same_shape((neg, 0), (program.feeds[0], 0)) and not form.same_shape((neg, 0), (exp, 0))
    assert not form.same_shape((exp, 0), (exp, 0))  # what is not known equals nothing
    assert form.is_known(neg.output_shapes[0]) and not form.is_known(exp.output_shapes[0]) and not form.is_known(None)


def test_definitions_of_what_only_plans_have():
    made = form.internal("_Mine", "&ref *many x", "y z", "N how", acts=True)
    assert [(a.name, a.is_ref, a.is_list) for a in made.inputs] == [
        ("ref", True, False),
        ("many", False, True),
        ("x", False, False),
    ]
    assert [a.name for a in made.outputs] == ["y", "z"] and made.is_stateful and set(made.attr_by_name) == {"N", "how"}


def test_a_branch_is_a_node_with_two_blocks():
    p, x = tf.placeholder(tf.bool, [], name="p"), tf.placeholder(tf.float32, [])
    with plain() as sess:
        plan = sess._executor.compile([tf.cond(p, lambda: raw.Exp(x=x), lambda: raw.Neg(x=x))], [p, x])
    branch = node_of(plan, IF)
    assert [[n.type for n in block] for block in branch.blocks] == [["Neg"], ["Exp"]]
    assert IF in types(plan) and not form.acts(branch)
