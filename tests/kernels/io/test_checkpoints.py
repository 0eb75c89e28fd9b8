"""Checkpoints by their ops: parts of tensors, every type, both versions, and files that don't have what is asked."""

import numpy as np
import pytest

import everflow as tf

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def save(sess, prefix, **tensors):
    names = list(tensors)
    sess.run(
        tf.raw_ops.SaveV2(
            prefix=prefix,
            tensor_names=names,
            shape_and_slices=[""] * len(names),
            tensors=[tf.constant(v) for v in tensors.values()],
        )
    )


def restore(prefix, name, dtype, part=""):
    return tf.raw_ops.RestoreV2(prefix=prefix, tensor_names=[name], shape_and_slices=[part], dtypes=[dtype])[0]


@pytest.mark.parametrize("dtype", "float16 float32 float64 int8 uint8 int16 int32 int64 bool complex64".split())
def test_every_type_comes_back(sess, tmp_path, dtype):
    value = X.astype(dtype)
    save(sess, str(tmp_path / "a"), x=value, empty=np.zeros([0, 2], dtype))
    found, empty = sess.run([restore(str(tmp_path / "a"), name, dtype) for name in ("x", "empty")])
    assert found.dtype == dtype and empty.shape == (0, 2)
    np.testing.assert_array_equal(found, value)


def test_strings_come_back(sess, tmp_path):
    words = np.array([[b"a", b""], [b"long" * 100, b"\x00\xff"]], object)
    save(sess, str(tmp_path / "a"), words=words)
    np.testing.assert_array_equal(sess.run(restore(str(tmp_path / "a"), "words", tf.string)), words)


def test_parts_of_one_tensor(sess, tmp_path):
    prefix = str(tmp_path / "a")
    sess.run(
        tf.raw_ops.SaveV2(
            prefix=prefix,
            tensor_names=["x", "x"],
            shape_and_slices=["3 4 0,2:-", "3 4 2,1:-"],
            tensors=[tf.constant(X[:2]), tf.constant(X[2:])],
        )
    )
    whole, middle = sess.run([restore(prefix, "x", tf.float32), restore(prefix, "x", tf.float32, "3 4 1,2:0,3")])
    np.testing.assert_array_equal(whole, X)
    np.testing.assert_array_equal(middle, X[1:3, :3])


@pytest.mark.parametrize(
    ("name", "dtype", "part", "error", "message"),
    [
        ("y", tf.float32, "", tf.errors.NotFoundError, "y"),
        ("x", tf.int32, "", tf.errors.InvalidArgumentError, "expected dtype int32 does not equal original dtype float"),
        ("x", tf.float32, "3 5 -:-", tf.errors.InvalidArgumentError, "does not match the shape stored in checkpoint"),
    ],
)
def test_what_a_checkpoint_does_not_have(sess, tmp_path, name, dtype, part, error, message):
    save(sess, str(tmp_path / "a"), x=X)
    with pytest.raises(error, match=message):
        sess.run(restore(str(tmp_path / "a"), name, dtype, part))


def test_no_checkpoint_at_all(sess, tmp_path):
    with pytest.raises(tf.errors.NotFoundError):
        sess.run(restore(str(tmp_path / "none"), "x", tf.float32))


def test_names_and_tensors_are_as_many(sess, tmp_path):
    names = tf.placeholder_with_default(["x"], None)
    with pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(
            tf.raw_ops.SaveV2(
                prefix=str(tmp_path / "a"), tensor_names=names, shape_and_slices=["", ""], tensors=[tf.constant(X)] * 2
            )
        )
    assert not list(tmp_path.iterdir())


def test_shards_are_merged_and_their_folder_goes(sess, tmp_path):
    parts = [str(tmp_path / "parts" / f"part{i}") for i in range(2)]
    for i, prefix in enumerate(parts):
        save(sess, prefix, **{f"x{i}": X + i})
    whole = str(tmp_path / "whole")
    sess.run(tf.raw_ops.MergeV2Checkpoints(checkpoint_prefixes=parts, destination_prefix=whole, delete_old_dirs=True))
    np.testing.assert_array_equal(sess.run(restore(whole, "x1", tf.float32)), X + 1)
    assert not (tmp_path / "parts").exists()


def test_names_of_shards(sess):
    name = tf.raw_ops.ShardedFilename(basename="b", shard=3, num_shards=12)
    spec = tf.raw_ops.ShardedFilespec(basename="b", num_shards=12)
    assert sess.run([name, spec]) == [b"b-00003-of-00012", b"b-?????-of-00012"]


def test_the_first_version(sess, tmp_path):
    path = str(tmp_path / "old")
    sess.run(
        tf.raw_ops.SaveSlices(
            filename=path,
            tensor_names=["x", "n"],
            shapes_and_slices=["3 4 1,2:-", ""],
            data=[tf.constant(X[1:]), tf.constant([5])],
        )
    )
    part, number = sess.run(
        [
            tf.raw_ops.RestoreSlice(file_pattern=path, tensor_name="x", shape_and_slice="3 4 2,1:-", dt=tf.float32),
            tf.raw_ops.Restore(file_pattern=path, tensor_name="n", dt=tf.int32),
        ]
    )
    np.testing.assert_array_equal(part, X[2:])
    assert number.tolist() == [5]
