"""Starting variables from a checkpoint: by name, by scope, in parts, and with another vocabulary."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.mode import eager_mode


@pytest.fixture
def checkpoint(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("old/w", initializer=[[1.0, 2.0], [3.0, 4.0]])
        tf.get_variable("old/b", initializer=[5.0, 6.0])
        tf.get_variable("emb", initializer=[[0.1, 0.2], [1.1, 1.2], [2.1, 2.2]])
        sess.run(tf.global_variables_initializer())
        return tf.train.Saver().save(sess, str(tmp_path / "model"))


pytestmark = pytest.mark.usefixtures("own_graph")


ZEROS = tf.zeros_initializer()


def started():
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return {v.op.name: sess.run(v) for v in tf.global_variables()}


def test_scope_to_scope(checkpoint):
    tf.get_variable("new/w", [2, 2], initializer=ZEROS)
    tf.get_variable("new/b", [2], initializer=ZEROS, use_resource=True)
    tf.train.init_from_checkpoint(checkpoint, {"old/": "new/"})
    values = started()
    assert values["new/w"].tolist() == [[1.0, 2.0], [3.0, 4.0]] and values["new/b"].tolist() == [5.0, 6.0]


def test_parts(checkpoint):
    parts = tf.get_variable("p", [3, 2], initializer=ZEROS, partitioner=tf.fixed_size_partitioner(2))
    tf.train.init_from_checkpoint(checkpoint, {"emb": list(parts)})
    values = started()
    np.testing.assert_allclose(values["p/part_1"], [[2.1, 2.2]])


def test_refusals(checkpoint):
    tf.get_variable("v", [3], initializer=ZEROS)
    for wrong in ({"nope": "v"}, {"old/w": "v"}, {"old/b": "nope"}, {"old/": "v"}):
        with pytest.raises(ValueError):
            tf.train.init_from_checkpoint(checkpoint, wrong)


def test_another_vocabulary(checkpoint, tmp_path):
    (tmp_path / "old.txt").write_text("apple\nbanana\ncherry\n")
    (tmp_path / "new.txt").write_text("banana\ndate\napple\n")
    tf.get_variable("emb", [4, 2], initializer=ZEROS)
    info = tf.train.VocabInfo(
        str(tmp_path / "new.txt"), 3, 1, str(tmp_path / "old.txt"), backup_initializer=tf.ones_initializer()
    )
    tf.train.warm_start(checkpoint, var_name_to_vocab_info={"emb": info})
    np.testing.assert_allclose(started()["emb"], [[1.1, 1.2], [1.0, 1.0], [0.1, 0.2], [1.0, 1.0]])
    with pytest.raises(ValueError, match="not used"):
        tf.train.warm_start(checkpoint, var_name_to_prev_var_name={"absent": "emb"})


def test_from_a_checkpoint_of_objects(tmp_path):
    with eager_mode():
        path = tf.train.Checkpoint(x=tf.Variable([7.0], name="weights")).save(str(tmp_path / "objects"))
    v = tf.get_variable("weights", [1])
    tf.train.warm_start(path)
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(v) == [7.0]
