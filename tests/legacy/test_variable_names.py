"""Names of `ops.variables`, and of `training` with what evaluates and restores."""

import pytest

import everflow as tf
import tests.served  # noqa: F401

# isort: split
from tensorflow.python.layers import utils
from tensorflow.python.ops import variables
from tensorflow.python.training import checkpoint_management, evaluation
from tensorflow.python.training import saver as savers


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield


def test_the_variable_of_version_two():
    assert variables.Variable is tf.compat.v2.Variable and variables.VariableV1 is tf.Variable
    v = variables.Variable(1.0)
    assert isinstance(v, variables.VariableV1) and v.dtype == tf.float32 and hasattr(v, "handle")
    assert isinstance(tf.Variable(1.0), variables.Variable) and not hasattr(tf.Variable(1.0), "handle")
    with pytest.raises(TypeError, match="collections"):
        variables.Variable(1.0, collections=["mine"])


def test_creators_see_its_arguments():
    with tf.variable_creator_scope(lambda next_creator, **kwargs: sorted(kwargs)):
        assert "use_resource" not in variables.Variable(1.0) and "use_resource" in tf.Variable(1.0)


def test_a_saver_of_an_object_based_checkpoint(tmp_path):
    with tf.Session() as sess:
        v = tf.get_variable("v", initializer=3.0, use_resource=True)
        sess.run(tf.global_variables_initializer())
        path = tf.train.Checkpoint(held=v).save(str(tmp_path / "c"), session=sess)
        sess.run(v.assign(0.0))
        savers.saver_from_object_based_checkpoint(path, [v]).restore(sess, path)
        assert sess.run(v) == 3.0
        named = tf.train.Saver([v]).save(sess, str(tmp_path / "n"))
        with pytest.raises(ValueError, match="names"):
            savers.saver_from_object_based_checkpoint(named, [v])
        tf.get_variable("w", initializer=3.0, use_resource=True)
        with pytest.raises(tf.errors.NotFoundError, match="w"):
            savers.saver_from_object_based_checkpoint(path)


def test_the_state_of_a_folder_by_relative_paths(tmp_path):
    folder = str(tmp_path)
    paths = [f"{folder}/m-0", f"{folder}/m-1"]
    checkpoint_management.update_checkpoint_state_internal(folder, paths[0], paths, save_relative_paths=True)
    assert '"m-0"' in (tmp_path / "checkpoint").read_text()


def test_an_evaluation_of_several_steps_a_run():
    step = evaluation._get_or_create_eval_step()
    hook = evaluation._MultiStepStopAfterNEvalsHook(5, steps_per_run=2)
    hook._set_evals_completed_tensor(step)
    hook.begin()
    each = hook._steps_per_run_variable
    bump = tf.assign_add(step, tf.cast(each, tf.int64))
    seen = []
    with tf.train.SingularMonitoredSession(hooks=[hook]) as session:
        while not session.should_stop():
            session.raw_session().run(bump)
            session.run(each)
            seen.append(session.raw_session().run([step, each]))
    assert [int(count) for count, _ in seen] == [2, 4, 5]


def test_lengths_and_tuples_of_layers():
    lengths = [utils.deconv_output_length(4, *rest) for rest in ((1, "same", 1), (2, "valid", 5), (2, "full", 4))]
    assert lengths == [4, 20, 12] and utils.normalize_tuple(2, n=3, name="strides") == (2, 2, 2)
    with pytest.raises(ValueError, match="strides"):
        utils.normalize_tuple((2, 1), n=3, name="strides")
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    z = (x + 1.0) * y
    reached = utils.get_reachable_from_inputs([x])
    assert len(reached) == 3 and z in reached and y not in reached
