"""Whole files read and written, and their names."""

import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("own_graph")


def run(tensor):
    with tf.Session() as sess:
        return sess.run(tensor)


def test_files(tmp_path):
    name = str(tmp_path / "new" / "file")
    run(tf.write_file(name, b"text\xff"))
    assert run(tf.read_file(name)) == b"text\xff"
    assert run(tf.matching_files(str(tmp_path / "*" / "f*"))).tolist() == [name.encode()]
    with pytest.raises(tf.errors.NotFoundError):
        run(tf.read_file(str(tmp_path / "none")))


def test_names_are_matched_once(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text("")
    names = tf.train.match_filenames_once(str(tmp_path / "*"))
    assert names in tf.local_variables() and names not in tf.trainable_variables()
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        (tmp_path / "c").write_text("")
        assert sess.run(names).tolist() == [str(tmp_path / name).encode() for name in "ab"]


def test_several_patterns_and_none_that_match(tmp_path):
    for name in ("a1", "a2", "b1"):
        (tmp_path / name).write_text("")
    found = run(tf.matching_files([str(tmp_path / p) for p in ("b*", "a*", "z*")]))
    assert [name.decode().rpartition("/")[2] for name in found] == ["a1", "a2", "b1"]
    assert run(tf.matching_files(str(tmp_path / "z*"))).shape == (0,)


def test_names_are_single_strings():
    assert tf.read_file("name").shape.as_list() == [] and tf.matching_files("name").shape.as_list() == [None]
    for build in (lambda: tf.read_file(["a"]), lambda: tf.write_file(["a"], "b"), lambda: tf.write_file("a", ["b"])):
        with pytest.raises(ValueError):
            build()


def test_writing_replaces_what_was_there(tmp_path):
    name = str(tmp_path / "file")
    for contents in (b"longer text", b""):
        run(tf.write_file(name, contents))
        assert run(tf.read_file(name)) == contents
