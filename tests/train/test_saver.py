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
            with pytest.raises(ValueError, match="no directory"):
                saver.save(sess, str(tmp_path / path))
            assert not (tmp_path / "no").exists()
