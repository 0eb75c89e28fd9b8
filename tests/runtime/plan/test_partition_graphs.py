"""`RunMetadata.partition_graphs`: what TensorFlow 1.15.5 shows, node for node, where no optimizer has changed the graph."""

import pytest

import everflow as tf

CPU = ["/job:localhost/replica:0/task:0/device:CPU:0", "/job:localhost/replica:0/task:0/device:CPU:1"]


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def parts(fetches, feed=None, initial=None):
    """device → its nodes as (name, op, inputs)."""
    metadata = tf.RunMetadata()
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        if initial is not None:
            sess.run(initial)
        sess.run(fetches, feed, options=tf.RunOptions(output_partition_graphs=True), run_metadata=metadata)
    found = {}
    for part in metadata.partition_graphs:
        (device,) = {node.device for node in part.node}
        assert part.versions.producer == 134
        found[device] = part.node
    return found


def told(nodes):
    return [(node.name, node.op, list(node.input)) for node in nodes]


def test_values_that_are_fed_moved_and_fetched():
    with tf.device("/cpu:0"):
        a = tf.placeholder(tf.float32, [2], name="a")
    with tf.device("/cpu:1"):
        b = tf.multiply(a, 2.0, name="b")
    with tf.device("/cpu:0"):
        c = tf.add(b, b, name="c")
    found = parts([c, b], {a: [1, 2]})
    assert list(found) == [CPU[1], CPU[0]]
    assert told(found[CPU[1]]) == [
        ("b/y", "Const", []),
        ("_arg_a_0_0/_1", "_Recv", []),
        ("b", "Mul", ["_arg_a_0_0/_1", "b/y"]),
        ("b/_2", "_Send", ["b"]),
    ]
    assert told(found[CPU[0]]) == [
        ("b/_3", "_Recv", []),
        ("c", "Add", ["b/_3", "b/_3"]),
        ("_arg_a_0_0", "_Arg", []),
        ("_arg_a_0_0/_0", "_Send", ["_arg_a_0_0"]),
        ("_retval_b_0_0", "_Retval", ["b/_3"]),
        ("_retval_c_0_1", "_Retval", ["c"]),
    ]
    send, received = found[CPU[1]][3].attr, found[CPU[0]][0].attr
    for end in (send, received):
        assert (end["send_device"].s.decode(), end["recv_device"].s.decode()) == (CPU[1], CPU[0])
        assert end["send_device_incarnation"].i == 1 and not end["client_terminated"].b
    assert send["tensor_name"].s == received["tensor_name"].s and send["tensor_name"].s.endswith(b"_b")
    assert send["T"].type == received["tensor_type"].type == tf.float32.as_datatype_enum
    result = found[CPU[0]][5].attr
    assert result["index"].i == 1 and result["T"].type == tf.float32.as_datatype_enum


def test_an_order_between_devices_travels_as_an_empty_value():
    with tf.device("/cpu:0"):
        a = tf.constant(1.0, name="a")
    with tf.device("/cpu:1"), tf.control_dependencies([a]):
        b = tf.no_op(name="b")
    found = parts(b)
    assert told(found[CPU[0]]) == [("a", "Const", []), ("a/_0", "Const", ["^a"]), ("a/_1", "_Send", ["a/_0"])]
    assert told(found[CPU[1]]) == [("a/_2", "_Recv", []), ("a/_3", "Identity", ["a/_2"]), ("b", "NoOp", ["^a/_3"])]


def test_a_step_of_training_reads_here_and_writes_there():
    with tf.device("/cpu:1"):
        v = tf.Variable([1.0, 2.0], name="v")
    with tf.device("/cpu:0"):
        loss = tf.reduce_sum(v * v, name="loss")
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    found = parts([loss, train], initial=tf.global_variables_initializer())
    update = "GradientDescent/update_v/ApplyGradientDescent"
    assert told(found[CPU[1]]) == [
        ("v", "VariableV2", []),
        ("v/read", "Identity", ["v"]),
        ("v/read/_0", "_Send", ["v/read"]),
        ("GradientDescent/learning_rate/_3", "_Recv", []),
        ("gradients/AddN/_5", "_Recv", []),
        (update, "ApplyGradientDescent", ["v", "GradientDescent/learning_rate/_3", "gradients/AddN/_5"]),
        ("GradientDescent", "NoOp", ["^" + update]),
    ]
    assert [n for n, op, _ in told(found[CPU[0]]) if op in ("_Recv", "_Send", "_Retval")] == [
        "v/read/_1", "GradientDescent/learning_rate/_2", "gradients/AddN/_4", "_retval_loss_0_0",
    ]  # fmt: skip


def test_one_device_has_one_part():
    a = tf.placeholder(tf.float32, [], name="a")
    found = parts([tf.add(a, 1.0, name="s"), tf.no_op(name="n")], {a: 1.0})
    assert list(found) == CPU[:1]
    assert told(found[CPU[0]]) == [
        ("s/y", "Const", []),
        ("n", "NoOp", []),
        ("_arg_a_0_0", "_Arg", []),
        ("s", "Add", ["_arg_a_0_0", "s/y"]),
        ("_retval_s_0_0", "_Retval", ["s"]),
    ]


def _loop(body, start=1.0):
    with tf.device("/cpu:0"):
        first = [tf.constant(0), tf.constant(start)]
        return tf.while_loop(lambda i, x: i < 3, body, first, name="w")


def test_a_device_goes_round_with_the_loop_that_it_has_a_part_of():
    def body(i, x):
        with tf.device("/cpu:1"):
            y = tf.multiply(x, 2.0, name="y")
        return i + 1, tf.add(y, 1.0, name="z")

    found = parts(_loop(body))
    turn = "_cloopw/y/y/_1"
    assert told(found[CPU[1]]) == [
        ("w/y/y/_4", "Const", []),
        ("_cloopw/y/y/_0", "Enter", ["w/y/y/_4"]),
        (turn, "Merge", ["_cloopw/y/y/_0", "_cloopw/y/y/_3"]),
        ("w/Identity/_12", "_Recv", [f"^{turn}"]),
        ("w/Identity/_13", "Identity", ["w/Identity/_12"]),
        ("w/y/y", "Const", ["^w/Identity/_13"]),
        ("w/Identity_1/_15", "_Recv", [f"^{turn}"]),
        ("w/y", "Mul", ["w/Identity_1/_15", "w/y/y"]),
        ("w/y/_16", "_Send", ["w/y"]),
        ("w/LoopCond/_19", "_HostRecv", [f"^{turn}"]),
        ("_cloopw/y/y/_2", "Switch", [turn, "w/LoopCond/_19"]),
        ("_cloopw/y/y/_3", "NextIteration", ["_cloopw/y/y/_2:1"]),
    ]
    entry = found[CPU[1]][1].attr
    assert entry["frame_name"].s == b"w/while_context" and entry["parallel_iterations"].i == 10
    assert told(found[CPU[0]])[-8:] == [
        ("w/z/_9", "Const", []),
        ("_cloopw/z/_5", "Enter", ["w/z/_9"]),
        ("_cloopw/z/_6", "Merge", ["_cloopw/z/_5", "_cloopw/z/_8"]),
        ("w/y/_17", "_Recv", ["^_cloopw/z/_6"]),
        ("w/z", "Add", ["w/y/_17", "w/z/y"]),
        ("w/NextIteration_1", "NextIteration", ["w/z"]),
        ("_cloopw/z/_7", "Switch", ["_cloopw/z/_6", "w/LoopCond"]),
        ("_cloopw/z/_8", "NextIteration", ["_cloopw/z/_7:1"]),
    ]


def test_what_a_node_takes_after_another_comes_with_the_round():
    def body(i, x):
        with tf.device("/cpu:1"):
            y = tf.multiply(x, x, name="y")
            return i + 1, tf.add(x, y, name="z")

    nodes = {name: inputs for name, _, inputs in told(parts(_loop(body))[CPU[1]])}
    received, turn = nodes["w/y"][0], nodes["w/y"][2]
    assert nodes["w/y"] == [received, received, turn] and turn.startswith("^_cloopw/y/_")
    assert nodes["w/z"] == [received, "w/y", turn]


def test_a_loop_in_a_loop_is_entered_from_its_round():
    def outer(i, x):
        def inner(j, y):
            with tf.device("/cpu:1"):
                return j + 1, tf.multiply(y, 1.5, name="z")

        return i + 1, tf.while_loop(lambda j, y: j < i, inner, [tf.constant(0), x], name="in")[1]

    nodes = {name: inputs for name, _, inputs in told(parts(_loop(outer))[CPU[1]])}
    like = next(name for name in nodes if name.startswith("_cloop") and name.endswith("/_0"))[:-3]
    assert nodes[f"{like}/_0"] == [f"{like}/_5"] and nodes[f"{like}/_4"] == [f"{like[6:]}/_8"]
    assert nodes[f"{like}/_5"] == [f"{like}/_4", f"{like}/_7"]


def test_a_switch_is_where_its_value_is_and_a_constant_where_it_is_read():
    with tf.device("/cpu:1"):
        p = tf.less(tf.constant(1.0), 2.0, name="p")
    size = tf.constant(3.0, name="size")
    with tf.device("/cpu:1"):
        read = tf.sqrt(size, name="read")
    with tf.device("/cpu:0"):
        y = tf.cond(p, lambda: read + 1.0, lambda: read - 1.0, name="c")
    found = {node.name: device for device, nodes in parts(y).items() for node in nodes}
    assert found["c/Switch"] == found["c/add/Switch"] == found["size"] == CPU[1]
    assert found["c/pred_id"] == found["c/add"] == found["c/Merge"] == CPU[0]


def test_a_call_stays_where_it_was_asked_for_and_a_handle_comes():
    with tf.device("/cpu:1"):
        v = tf.get_variable("v", initializer=1.5, use_resource=True)
    call = tf.function(lambda x: x * v)
    with tf.device("/cpu:0"):
        y = tf.identity(call(tf.constant(3.0)), name="y")
    found = parts(y, initial=v.initializer)
    assert [op for _, op, _ in told(found[CPU[1]])] == ["VarHandleOp", "_Send"]
    assert [op for _, op, _ in told(found[CPU[0]]) if "Call" in op] == ["StatefulPartitionedCall"]
