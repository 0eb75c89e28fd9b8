"""Libraries of compiled ops can't be loaded: the error says whether there is one at all."""

import pytest

import everflow as tf


@pytest.mark.parametrize("load", [tf.load_op_library, tf.load_file_system_library], ids=lambda f: f.__name__)
def test_a_file_that_is_not_there_and_one_that_is(load, tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="missing.so"):
        load(str(tmp_path / "missing.so"))
    (tmp_path / "there.so").write_bytes(b"")
    with pytest.raises(tf.errors.UnimplementedError, match="there.so"):
        load(str(tmp_path / "there.so"))


def test_a_folder_of_them(tmp_path):
    with pytest.raises(OSError, match="missing"):
        tf.load_library(str(tmp_path / "missing"))
    with pytest.raises(tf.errors.UnimplementedError):
        tf.load_library(str(tmp_path))
