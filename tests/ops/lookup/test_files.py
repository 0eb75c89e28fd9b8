"""Tables that are filled from the lines of a file."""

import pytest

import everflow as tf
from everflow.contrib import lookup

pytestmark = pytest.mark.usefixtures("own_graph")


def test_tables_from_files(tmp_path):
    vocabulary, pairs, empty = (str(tmp_path / name) for name in ("v", "p", "e"))
    (tmp_path / "v").write_bytes(b"the\nquick\r\nfox")
    (tmp_path / "p").write_bytes(b"red\t5\nblue\t6\n")
    (tmp_path / "e").write_bytes(b"")
    gap = str(tmp_path / "g")
    (tmp_path / "g").write_bytes(b"a\n\nb\n")
    ids = lookup.index_table_from_file(vocabulary, num_oov_buckets=1)
    words = lookup.index_to_string_table_from_file(vocabulary, vocab_size=2)
    columns = lookup.HashTable(lookup.TextFileInitializer(pairs, tf.string, 0, tf.int64, 1), 0)
    assert len(tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)) == 3
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        assert sess.run(ids.lookup(tf.constant(["fox", "quick", "?"]))).tolist() == [2, 1, 3]
        assert sess.run(words.lookup(tf.constant([0, 2], tf.int64))).tolist() == [b"the", b"UNK"]
        assert sess.run(columns.lookup(tf.constant(["blue", "x"]))).tolist() == [6, 0]
        initializer = lookup.TextFileInitializer
        for made, error in [
            (lookup.TextFileIdTableInitializer(str(tmp_path / "none")), tf.errors.NotFoundError),
            (lookup.TextFileIdTableInitializer(vocabulary, vocab_size=9), tf.errors.InvalidArgumentError),
            (initializer(pairs, tf.string, 1, tf.int64, 0), tf.errors.InvalidArgumentError),
            (initializer(pairs, tf.string, 0, tf.int64, 7), tf.errors.InvalidArgumentError),
            (lookup.TextFileIdTableInitializer(empty), tf.errors.OutOfRangeError),
            (lookup.TextFileIdTableInitializer(gap), tf.errors.InvalidArgumentError),
            (initializer(vocabulary, tf.string, -2, tf.int64, -1, delimiter="ab"), tf.errors.InvalidArgumentError),
        ]:
            with pytest.raises(error):
                sess.run(lookup.HashTable(made, -1).init)
    for arguments in (
        (vocabulary, tf.string, -2, tf.string, -1),
        ("", tf.string, -2, tf.int64, -1),
        (vocabulary, tf.string, -3, tf.int64, 0),
    ):
        with pytest.raises(ValueError):
            initializer(*arguments)


@pytest.mark.parametrize(
    ("build", "error"),
    [
        (lambda: lookup.index_table_from_file(None), ValueError),
        (lambda: lookup.index_table_from_file(""), ValueError),
        (lambda: lookup.index_table_from_file("f", vocab_size=0), ValueError),
        (lambda: lookup.index_table_from_file("f", num_oov_buckets=-1), ValueError),
        (lambda: lookup.index_table_from_file("f", key_dtype=tf.float32), TypeError),
        (lambda: lookup.index_to_string_table_from_file("f", vocab_size=0), ValueError),
        (lambda: lookup.TextFileInitializer("f", tf.string, -2, tf.int64, -1, vocab_size=0), ValueError),
        (lambda: lookup.TextFileInitializer("f", tf.int32, -1, tf.string, -2), ValueError),
    ],
)
def test_files_that_make_no_table(build, error):
    with pytest.raises(error):
        build()


def test_numbers_as_keys(tmp_path):
    (tmp_path / "numbers").write_text("10\n20\n30\n")
    table = lookup.index_table_from_file(str(tmp_path / "numbers"), key_dtype=tf.int64, default_value=9)
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        assert sess.run(table.lookup(tf.constant([30, 10, 5], tf.int64))).tolist() == [2, 0, 9]


def test_tables_of_one_file_share_their_name(tmp_path):
    (tmp_path / "v").write_text("a\nb\n")
    tables = [lookup.index_table_from_file(str(tmp_path / "v"), vocab_size=size) for size in (None, None, 1)]
    names = [t.resource_handle.op.get_attr("shared_name") for t in tables]
    assert names[0] == names[1] != names[2] and b"/v_1_-2_-1" in names[2]
