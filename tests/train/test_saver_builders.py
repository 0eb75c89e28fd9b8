"""What draws a Saver's nodes, and savers that have none of their own. Expected values are TensorFlow's."""

import os

import pytest

import everflow as tf
import tests.served  # noqa: F401
from everflow.ops.variables.saveables import PythonStringStateSaveable
from everflow.train.saver_graph import BaseSaverBuilder, on_cpu, saveables_of
from everflow.train.saving.functional_saver import MultiDeviceSaver

pytestmark = pytest.mark.usefixtures("own_graph")


class Counting(BaseSaverBuilder):
    calls = ()

    def save_op(self, filename_tensor, saveables):
        self.calls += ("save",)
        return super().save_op(filename_tensor, saveables)

    def restore_op(self, filename_tensor, saveable, preferred_shard):
        self.calls += ("restore",)
        return super().restore_op(filename_tensor, saveable, preferred_shard)


def test_a_builder_of_ones_own_is_asked_for_each_op():
    tf.Variable(1.0), tf.Variable(2.0)
    builder = Counting()
    tf.train.Saver(builder=builder)
    assert builder.calls == ("save", "restore", "restore")
    with pytest.raises(ValueError, match="together"):
        builder._build_internal(tf.global_variables(), build_save=False)


def test_a_builder_of_ones_own_reshapes_too(tmp_path):
    with tf.Session() as session:
        v = tf.Variable([1.0, 2.0, 3.0, 4.0], name="v")
        session.run(v.initializer)
        path = tf.train.Saver().save(session, str(tmp_path / "v"))
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([[0.0, 0.0], [0.0, 0.0]], name="v")
        tf.train.Saver(builder=Counting(), reshape=True).restore(session, path)
        assert session.run(v).tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize(
    "name, host", [("", "/device:CPU:0"), ("/gpu:0", "/device:CPU:0"), ("/job:a/task:1", "/job:a/task:1/device:CPU:0")]
)
def test_files_are_written_by_the_cpu_of_a_task(name, host):
    assert on_cpu(name) == host


def test_what_is_no_slice_of_the_same_variable_is_refused():
    parts = tf.get_variable("p", [4, 3], partitioner=tf.fixed_size_partitioner(2))
    with pytest.raises(ValueError, match="Slices must all be slices"):
        tf.train.Saver({"z": [next(iter(parts)), tf.Variable(1.0)]})


def test_objects_are_saved_under_names_with_their_attributes(tmp_path):
    class Holder:
        def __init__(self):
            self.v = tf.Variable(1.0, use_resource=True)

        def _gather_saveables_for_checkpoint(self):
            return {"x": lambda name: saveables_of({name: self.v})[0]}

    saver = tf.train.Saver({"q": Holder()})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "c"))
    assert tf.train.list_variables(path) == [("q_x", [])]


def test_a_functional_saver_as_a_saver_def(tmp_path):
    v = tf.Variable(2.0, use_resource=True)
    names = MultiDeviceSaver(saveables_of({"x": v})).to_proto()
    assert (names.filename_tensor_name, names.save_tensor_name) == ("saver_filename:0", "StatefulPartitionedCall:0")
    path = str(tmp_path / "c")
    with tf.Session() as session:
        session.run(v.initializer)
        session.run(names.save_tensor_name, {names.filename_tensor_name: path})
        session.run(v.assign(9.0))
        session.run(names.restore_op_name, {names.filename_tensor_name: path})
        assert session.run(v) == 2.0
    assert sorted(os.listdir(tmp_path)) == ["c.data-00000-of-00001", "c.index"]


def test_python_state_is_fed_or_frozen():
    taken = []
    saveable = PythonStringStateSaveable("s", lambda: "now", taken.append)
    ((tensor, value),) = saveable.feed_dict_additions().items()
    assert (tensor.dtype, value, saveable.optional_restore) == (tf.string, "now", False)
    with tf.Session() as session:
        assert session.run(saveable.freeze().specs[0].tensor) == b"now"
    saveable.python_restore([b"then"])
    assert taken == [b"then"]
    assert PythonStringStateSaveable("s", lambda: "now").optional_restore


def test_a_checkpoint_with_state_that_nothing_takes_is_not_consumed(tmp_path):
    class Text(tf.train.experimental.PythonState):
        def serialize(self):
            return "x"

        def deserialize(self, string_value):
            pass

    with tf.Session() as session:
        path = tf.train.Checkpoint(a=Text()).save(str(tmp_path / "c"), session=session)
        other = tf.train.Checkpoint(a=tf.contrib.checkpoint.Checkpointable())
        with pytest.raises(AssertionError, match="Unused attributes"):
            other.restore(path).assert_consumed()


def test_the_table_to_try_savers_with(tmp_path):
    from tensorflow.python.training import saver_test_utils

    table = saver_test_utils.CheckpointedOp("t")
    with tf.Session() as session:
        session.run(table.insert("k", 30.0))
        path = tf.train.Saver().save(session, str(tmp_path / "c"))
        assert tf.train.list_variables(path) == [("t-keys", [1]), ("t-values", [1])]
        session.run(table.insert("z", 1.0))
        tf.train.Saver().restore(session, path)
        assert session.run(table.keys()).tolist() == [b"k"]


def test_a_manager_numbers_by_a_variable(tmp_path):
    step = tf.train.create_global_step()
    with tf.Session() as session:
        session.run(step.assign(12))
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(step=step), str(tmp_path), max_to_keep=2)
        assert os.path.basename(manager.save(checkpoint_number=step)) == "ckpt-12"
