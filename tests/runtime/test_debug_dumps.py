"""What a watched run writes."""

import json

import numpy as np
import pytest

import everflow as tf
from everflow import debug as tf_debug
from everflow.debug import dumps
from everflow.protos import event_pb2
from everflow.runtime import debug_dumps

CPU = "_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0"


def watched(folder, *watches, urls=None):
    options = tf.RunOptions()
    options.debug_options.global_step = 7
    for node, slot, ops in watches:
        options.debug_options.debug_tensor_watch_opts.add(
            node_name=node, output_slot=slot, debug_ops=ops, debug_urls=urls or [f"file://{folder}"]
        )
    return options


def read(path):
    return event_pb2.Event.FromString(path.read_bytes())


def dumped(folder):
    """{(node, slot, op): array, or what stands for a handle} of what was written."""
    found = {}
    for path in (folder / CPU).rglob("*"):
        if path.is_file() and not path.name.startswith("_tfdbg"):
            event = read(path)
            node, slot, kind = event.summary.value[0].node_name.rsplit(":", 2)
            assert path.relative_to(folder / CPU).as_posix().startswith(f"{node}_{slot}_{kind}_")
            found[node, int(slot), kind] = dumps.load_tensor_from_event(event)
    return found


def short(folder, array, kind):
    """What is dumped in short of an output that has these values."""
    x = tf.placeholder(array.dtype, array.shape)
    y = tf.reverse(x, [0], name="y")
    with tf.Session() as sess:
        sess.run(y, {x: array}, options=watched(folder, ("y", 0, [kind])))
    return dumped(folder)["y", 0, kind]


@pytest.fixture
def values():
    x = tf.placeholder(tf.float32, [4], name="x")
    return x, tf.unique(tf.exp(x, name="scope/exp"), name="u")


def test_outputs_that_were_asked_for_are_written_and_no_others(tmp_path, values):
    x, unique = values
    options = watched(tmp_path, ("scope/exp", 0, ["DebugIdentity", "DebugNanCount"]), ("u", 1, ["DebugIdentity"]))
    with tf.Session() as sess:
        result = sess.run(unique, {x: [0.0, 1.0, 0.0, np.nan]}, options=options)
    found = dumped(tmp_path)
    assert set(found) == {
        ("scope/exp", 0, "DebugIdentity"),
        ("scope/exp", 0, "DebugNanCount"),
        ("u", 1, "DebugIdentity"),
    }
    np.testing.assert_array_equal(found["u", 1, "DebugIdentity"], result.idx)
    assert found["scope/exp", 0, "DebugNanCount"] == 1


def test_what_ran_is_written_beside(tmp_path, values):
    x, unique = values
    with tf.Session() as sess:
        sess.run([unique.y, unique.idx.op], {x: np.zeros(4)}, options=watched(tmp_path, ("u", 0, ["DebugIdentity"])))
    (metadata,) = tmp_path.glob("_tfdbg_core_metadata_*")
    about = json.loads(read(metadata).log_message.message)
    assert (about["global_step"], about["input_names"], about["output_names"]) == (7, ["x:0"], ["u:0"])
    assert about["target_nodes"] == ["u"]
    (graph,) = (tmp_path / CPU).glob("_tfdbg_graph_*")
    nodes = {n.name: n.op for n in tf.GraphDef.FromString(read(graph).graph_def).node}
    assert nodes == {"_arg_x_0_0": "_Arg", "scope/exp": "Exp", "u": "Unique", "_retval_u_0_0": "_Retval"}


def test_all_tensors_at_once_and_handles(tmp_path):
    variable = tf.get_variable("v", initializer=[1.0], use_resource=True)
    tf.negative(variable.read_value(), name="neg")
    options = tf.RunOptions()
    tf_debug.watch_graph(options, tf.get_default_graph(), debug_urls=f"file://{tmp_path}")
    with tf.Session() as sess:
        sess.run(variable.initializer)
        sess.run("neg:0", options=options)
    found = dumped(tmp_path)
    assert found["neg", 0, "DebugIdentity"].tolist() == [-1.0]
    handle = found["v", 0, "DebugIdentity"]
    assert isinstance(handle, dumps.InconvertibleTensorProto) and handle.initialized
    assert "dtype: DT_RESOURCE" in str(handle)
    dump = tf_debug.DebugDumpDir(str(tmp_path))
    assert {datum.node_name for datum in dump.find(lambda datum, tensor: True)} == {node for node, _, _ in found}
    assert dump.find(tf_debug.has_inf_or_nan) == []


@pytest.mark.parametrize(
    ("watch", "urls", "words"),
    [
        (("u", 0, ["DebugIdentity"]), ["ftp://localhost"], "file:// and grpc://"),
        (("u", 0, ["NoSuchOp"]), None, "'NoSuchOp'"),
    ],
)
def test_what_can_not_be_written(tmp_path, values, watch, urls, words):
    with tf.Session() as sess, pytest.raises(tf.errors.UnimplementedError, match=words):
        sess.run(values[1], {values[0]: np.zeros(4)}, options=watched(tmp_path, watch, urls=urls))


@pytest.mark.parametrize(
    ("array", "counts", "spread"),
    [
        ([np.nan, -np.inf, np.inf, -1.0, 0.0, 3.0], [6, 1, 1, 1, 1, 1, 1], [-1.0, 3.0, 2 / 3, np.var([-1, 0, 3])]),
        ([np.nan], [1, 1, 0, 0, 0, 0, 0], [np.inf, -np.inf, np.nan, np.nan]),
        ([], [0] * 7, [np.inf, -np.inf, np.nan, np.nan]),
    ],
)
def test_numbers_in_short(tmp_path, array, counts, spread):
    found = short(tmp_path, np.float32(array), "DebugNumericSummary")
    assert found[0] == 1.0 and found[1:8].tolist() == counts
    np.testing.assert_allclose(found[8:12], spread)
    assert found[12:].tolist() == [tf.float32.as_datatype_enum, 1, len(array)]


def test_whole_numbers_are_never_nan(tmp_path):
    found = short(tmp_path, np.arange(3), "DebugNanCount")
    assert found.dtype == np.int64 and found.tolist() == [0]


def test_dumps_of_one_run_have_times_of_their_own(tmp_path):
    writer = debug_dumps.DebugDumps(watched(tmp_path, ("u", 0, [])).debug_options)
    times = [writer._now() for _ in range(1000)]
    assert len(set(times)) == 1000 and times == sorted(times)
