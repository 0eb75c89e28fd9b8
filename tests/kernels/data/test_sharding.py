"""Pipelines divided among workers, as TensorFlow divides them."""

import pytest

import everflow as tf
from everflow.data.experimental.distribution import _AutoShardDataset as shared
from everflow.data.experimental.optimization import non_serializable
from everflow.legacy.inner.data import datasets as readers


@pytest.fixture
def files(tmp_path):
    """Four files of three lines, and of three records, each."""
    lines, records = [], []
    for f in range(4):
        (tmp_path / f"t{f}").write_text("".join(f"T{f}{i}\n" for i in range(3)))
        with tf.io.TFRecordWriter(str(tmp_path / f"r{f}")) as writer:
            for i in range(3):
                writer.write(b"R%d%d" % (f, i))
        lines.append(str(tmp_path / f"t{f}"))
        records.append(str(tmp_path / f"r{f}"))
    return lines, records


def elements(dataset):
    following = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as session:
        while True:
            try:
                value = session.run(following)
            except tf.errors.OutOfRangeError:
                return found
            found.append(value.tolist() if hasattr(value, "tolist") else value)


def of(kind, *numbers):
    return [f"{kind}{f}{i}".encode() for f in numbers for i in range(3)]


def slices(names):
    return tf.data.Dataset.from_tensor_slices(names)


BY_FILES = {
    "reader": lambda lines, records: tf.data.TFRecordDataset(records),
    "flat_map": lambda lines, records: slices(records).flat_map(tf.data.TFRecordDataset),
    "after batches": lambda lines, records: (
        slices(records).flat_map(tf.data.TFRecordDataset).shuffle(1).prefetch(1).take(99).filter(lambda x: True).cache()
    ),
    "parallel": lambda lines, records: slices(records).interleave(tf.data.TFRecordDataset, 1, 1, 1).map(lambda x: x, 2),
    "calls": lambda lines, records: slices(records).flat_map(lambda f: slices([f]).flat_map(tf.data.TFRecordDataset)),
}


@pytest.mark.parametrize("kind", BY_FILES)
def test_files_are_divided(kind, files):
    assert elements(shared(BY_FILES[kind](*files), 2, 0)) == of("R", 0, 2)
    assert elements(shared(BY_FILES[kind](*files), 2, 1)) == of("R", 1, 3)


def test_all_branches_are_divided_alike(files):
    lines, records = files
    texts = slices(lines).flat_map(tf.data.TextLineDataset)
    both = tf.data.Dataset.zip((tf.data.TFRecordDataset(records), texts))
    assert elements(shared(both, 2, 1)) == list(zip(of("R", 1, 3), of("T", 1, 3)))
    assert elements(shared(tf.data.TextLineDataset(lines).concatenate(texts), 2, 0)) == of("T", 0, 2) * 2
    assert elements(shared(shared(texts, 2, 1), 2, 1)) == of("T", 3)


@pytest.mark.parametrize("seed", [1, 2, 5, 7])
def test_files_are_divided_before_they_are_shuffled(seed, files):
    shuffled = slices(files[1]).shuffle(4, seed=seed).flat_map(tf.data.TFRecordDataset)
    assert sorted(elements(shared(shuffled, 2, 0))) == of("R", 0, 2)


def test_elements_are_divided_where_files_are_not_seen(files):
    assert elements(shared(tf.data.Dataset.range(10), 3, 0)) == [0, 3, 6, 9]
    assert elements(shared(tf.data.Dataset.range(10).batch(2), 3, 1)) == [[2, 3], [8, 9]]
    unknown = tf.data.TFRecordDataset(files[1]).apply(tf.data.experimental.unique())
    assert elements(shared(unknown, 2, 1)) == [b"R01", b"R10", b"R12", b"R21", b"R30", b"R32"]


def test_a_worker_without_anything_is_an_error(files):
    for dataset in (tf.data.TFRecordDataset(files[1]), slices(files[1]).flat_map(tf.data.TFRecordDataset)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="enough elements"):
            elements(shared(dataset, 5, 0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="enough elements"):
        elements(shared(tf.data.Dataset.range(1), 3, 0))
    assert elements(shared(tf.data.Dataset.range(0), 3, 0)) == []


def test_what_is_no_graph_is_not_divided(files):
    dataset = tf.data.TFRecordDataset(files[1]).apply(non_serializable())
    assert elements(shared(dataset, 2, 1)) == elements(dataset)


@pytest.mark.parametrize(("workers", "index"), [(2, 2), (2, -1), (0, 0)])
def test_workers_that_are_not_there_are_refused(workers, index):
    with pytest.raises(tf.errors.InvalidArgumentError):
        elements(shared(tf.data.Dataset.range(4), workers, index))


READERS = {
    "records": lambda lines, records: readers._TFRecordDataset(records),
    "lines": lambda lines, records: readers._TextLineDataset(lines),
    "records of one length": lambda lines, records: readers._FixedLengthRecordDataset(lines, 4),
}


@pytest.mark.parametrize("kind", READERS)
def test_what_one_op_reads_is_divided_by_elements(kind, files):
    every = elements(READERS[kind](*files))
    assert len(every) == 12
    assert elements(shared(READERS[kind](*files), 2, 1)) == every[1::2]


def test_shuffles_further_up_are_of_a_worker_s_own_files_too(files):
    def order(pipeline):
        return elements(shared(pipeline.flat_map(tf.data.TFRecordDataset), 2, 0))

    plain, own = slices(files[1]), order(slices(files[1]).shuffle(6, seed=1))
    assert sorted(own) == of("R", 0, 2)
    assert order(plain.shuffle(6, seed=1).map(lambda x: x).cache()) == own
    assert order(plain.shuffle(6, seed=1).prefetch(1).shuffle(6, seed=2)) == own
    assert sorted(order(plain.shuffle(6, seed=1).take(3))) == of("R", 0, 2)
