"""tf.train.Saver: where it saves to."""

import pytest

import everflow as tf


@pytest.mark.parametrize("path, works", [("new/model", True), ("no/such/model", False), ("file/model", False)])
def test_one_new_folder_and_no_more(tmp_path, path, works):
    (tmp_path / "file").write_text("a file")
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(1.0)
        sess.run(v.initializer)
        saver = tf.train.Saver()
        if works:
            assert tf.train.checkpoint_exists(saver.save(sess, str(tmp_path / path)))
        else:
            with pytest.raises(ValueError, match="Parent directory"):
                saver.save(sess, str(tmp_path / path))
            assert not (tmp_path / "no").exists()


def test_a_path_with_a_scheme(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(1.0)
        sess.run(v.initializer)
        saver = tf.train.Saver()
        path = saver.save(sess, f"file://{tmp_path}/model")
        assert (tmp_path / "model.index").exists()
        sess.run(v.assign(2.0))
        saver.restore(sess, path)
        assert sess.run(v) == 1.0


def test_a_part_by_itself_is_saved_whole():
    with tf.Graph().as_default():
        v = tf.Variable(1.0)
        v._set_save_slice_info(tf.Variable.SaveSliceInfo("whole", [2], [0], [1]))
        tf.train.Saver({"part": v})
        (restore,) = [op for op in tf.get_default_graph().get_operations() if op.type == "RestoreV2"]
        assert restore.outputs[0].shape.ndims is None


def test_parts_of_resource_variables_are_read_on_the_cpu_of_their_task():
    with tf.Graph().as_default() as graph:
        with tf.device("/job:ps/device:GPU:0"):
            halves = tf.fixed_size_partitioner(2)
            v = tf.get_variable("v", shape=[10, 2], partitioner=halves, use_resource=True)
        tf.train.Saver({"v": v})
        (save,) = [op for op in graph.get_operations() if op.type == "SaveV2"]
        assert {t.device for t in save.inputs[3:]} == {"/job:ps/device:CPU:0"}


def test_a_collection_whose_key_is_no_string_is_left_out():
    with tf.Graph().as_default():
        tf.Variable(1.0)
        tf.add_to_collection(3, 4)
        assert "variables" in tf.train.export_meta_graph().collection_def
