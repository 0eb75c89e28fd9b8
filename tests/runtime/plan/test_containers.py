"""Which stack or array a node puts into or takes from."""

import everflow as tf
from everflow.framework import op_defs
from everflow.framework import raw_ops as raw
from everflow.runtime.plan.containers import LOADS, PUTS, container_of, is_load, stored
from tests.runtime.plan.sessions import plain


def planned(fetches, feeds=()):
    with plain() as sess:
        return list(sess._executor.compile(fetches, list(feeds)).program.nodes())


def of_types(nodes, prefix):
    return [node for node in nodes if node.type.startswith(prefix)]


def test_the_tables_name_arguments_of_op_types():
    for name, put in PUTS.items():
        argument = op_defs.get(name).inputs[put.position]
        assert argument.name in ("elem", "value") and not argument.is_list
    assert all(op_defs.get(name).outputs for name in LOADS) and not LOADS & PUTS.keys()


def test_stacks_are_told_apart_by_who_made_them():
    one, two = (raw.StackV2(max_size=tf.constant(-1), elem_type=tf.float32) for _ in range(2))
    pushed = [raw.StackPushV2(handle=stack, elem=tf.constant(float(i))) for i, stack in enumerate((one, two))]
    with tf.control_dependencies(pushed):
        popped = [raw.StackPopV2(handle=stack, elem_type=tf.float32) for stack in (one, two)]
    nodes = planned(popped)
    puts, loads = of_types(nodes, "StackPush"), of_types(nodes, "StackPop")
    assert all(stored(n) and not is_load(n) for n in puts) and all(is_load(n) and not stored(n) for n in loads)
    assert [container_of(n) for n in puts] == [container_of(n) for n in loads]
    assert container_of(puts[0]) != container_of(puts[1])


def test_an_array_is_the_same_outside_of_a_loop_and_in_it():
    x = tf.placeholder(tf.float32, [3])
    inputs = tf.TensorArray(tf.float32, 3).unstack(x)
    outputs = tf.TensorArray(tf.float32, 3)
    _, outputs = tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, -inputs.read(i))), [0, outputs], parallel_iterations=1
    )
    nodes = planned([outputs.read(2)], [x])
    scattered, written = of_types(nodes, "TensorArrayScatter")[0], of_types(nodes, "TensorArrayWrite")[0]
    inside, after = of_types(nodes, "TensorArrayRead")
    if inside.block.owner is None:
        inside, after = after, inside
    assert container_of(scattered) == container_of(inside) != container_of(written) == container_of(after)


def test_gradients_of_an_array_are_one_array_for_each_source():
    array = tf.TensorArray(tf.float32, 1, clear_after_read=False).write(0, 1.0)
    reads = [array.grad(source).read(0) for source in ("a", "b", "a")]
    writes = [array.grad(source).write(0, 1.0).flow for source in ("a", "b", "a")]
    nodes = planned([*reads, *writes, array.read(0)])
    keys = [container_of(n) for n in of_types(nodes, "TensorArrayRead")]
    assert keys[0] == keys[2] != keys[1] and keys[3] not in keys[:3]
    assert {container_of(n) for n in of_types(nodes, "TensorArrayWrite")} == set(keys)


def test_a_handle_may_go_round_in_a_loop():
    array, x = tf.TensorArray(tf.float32, 3, clear_after_read=False), tf.placeholder(tf.float32, [None])

    def body(i, handle, flow):
        value = x * tf.cast(i, tf.float32)
        return i + 1, handle, raw.TensorArrayWriteV3(handle=handle, index=i, value=value, flow_in=flow)

    _, handle, flow = tf.while_loop(lambda i, *_: i < 3, body, [0, array.handle, array.flow], back_prop=False)
    read = raw.TensorArrayReadV3(handle=handle, index=tf.constant(2), flow_in=flow, dtype=tf.float32)
    nodes = planned([read], [x])
    (write,), (load,) = of_types(nodes, "TensorArrayWrite"), of_types(nodes, "TensorArrayRead")
    assert container_of(write) == container_of(load) and container_of(load)[0].type == "TensorArrayV3"
    with tf.Session() as sess:
        for _ in range(4):
            assert sess.run(read, {x: [1.0, 2.0]}).tolist() == [2.0, 4.0]
