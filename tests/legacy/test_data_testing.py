"""The TestCases for pipelines that TensorFlow's package has: what they let pass, and what they don't."""

import numpy as np
import pytest

import everflow as tf
from everflow.legacy.inner.data.testing import benchmarks, datasets, readers, serialization, stats

Dataset = tf.data.Dataset


def case(base):
    class Case(base):
        def runTest(self):
            pass

    made = Case()
    made.setUp()
    return made


@pytest.fixture(params=["graph", "eager"])
def mode(request):
    if request.param == "graph":
        with tf.Graph().as_default(), tf.Session():
            yield request.param
    else:
        from everflow.eager.mode import eager_mode

        with eager_mode():
            yield request.param


def nan_second():
    values = Dataset.from_tensor_slices(np.array([1.0, np.nan], np.float32))
    return values.map(lambda x: tf.check_numerics(x, "oops"))


PASSING = {
    "numbers": lambda t: t.assertDatasetProduces(Dataset.range(3), [0, 1, 2]),
    "arrays": lambda t: t.assertDatasetProduces(Dataset.range(4).batch(2), [[0, 1], [2, 3]]),
    "tuples": lambda t: t.assertDatasetProduces(Dataset.range(2).enumerate(5), [(5, 0), (6, 1)]),
    "any order": lambda t: t.assertDatasetProduces(Dataset.range(3), [2, 0, 1], assert_items_equal=True),
    "shapes": lambda t: t.assertDatasetProduces(Dataset.range(1), [0], expected_shapes=tf.TensorShape([])),
    "again": lambda t: t.assertDatasetProduces(
        Dataset.range(2), [0, 1], requires_initialization=True, num_test_iterations=2
    ),
    "error": lambda t: t.assertDatasetProduces(
        nan_second(), expected_error=(tf.errors.InvalidArgumentError, "oops"), expected_error_iter=2
    ),
    "sparse": lambda t: t.assertDatasetProduces(
        Dataset.from_tensors(tf.SparseTensor([[0]], [1], [2])), [tf.SparseTensorValue([[0]], [1], [2])]
    ),
    "ragged": lambda t: t.assertDatasetProduces(
        Dataset.from_tensors(tf.ragged.constant([[1], [2, 3]])), [tf.compat.v1.ragged.constant_value([[1], [2, 3]])]
    ),
    "equal": lambda t: t.assertDatasetsEqual(Dataset.range(3), Dataset.from_tensor_slices(np.arange(3))),
    "same error": lambda t: t.assertDatasetsRaiseSameError(
        nan_second().skip(1), nan_second().skip(1), tf.errors.InvalidArgumentError
    ),
    "structure": lambda t: t.assertDatasetProduces(t.structuredDataset((None, (None,))), [(0, (0,))]),
    "element": lambda t: t.assertAllEqual(t.evaluate(t.structuredElement([None], [2], tf.float32)[0]), [0.0, 0.0]),
}
FAILING = {
    "fewer": (AssertionError, lambda t: t.assertDatasetProduces(Dataset.range(3), [0, 1])),
    "more": (tf.errors.OutOfRangeError, lambda t: t.assertDatasetProduces(Dataset.range(3), [0, 1, 2, 3])),
    "others": (AssertionError, lambda t: t.assertDatasetProduces(Dataset.range(2), [0, 2])),
    "lists for tuples": (ValueError, lambda t: t.assertDatasetProduces(Dataset.range(1).enumerate(), [[0, 0]])),
    "no error": (
        AssertionError,
        lambda t: t.assertDatasetProduces(Dataset.range(2), expected_error=(tf.errors.InvalidArgumentError, "")),
    ),
    "nothing asked": (AssertionError, lambda t: t.assertDatasetProduces(Dataset.range(2))),
    "types": (AssertionError, lambda t: t.assertDatasetsEqual(Dataset.range(1), Dataset.from_tensors(1.0))),
    "lengths": (AssertionError, lambda t: t.assertDatasetsEqual(Dataset.range(1), Dataset.range(2))),
    "no first error": (
        ValueError,
        lambda t: t.assertDatasetsRaiseSameError(Dataset.range(1), Dataset.range(1), tf.errors.InvalidArgumentError),
    ),
}


@pytest.mark.parametrize("what", PASSING)
def test_what_datasets_produce(mode, what):
    PASSING[what](case(datasets.DatasetTestBase))


@pytest.mark.parametrize("what", FAILING)
def test_what_they_do_not_produce(mode, what):
    kind, check = FAILING[what]
    with pytest.raises(kind):
        check(case(datasets.DatasetTestBase))


def test_every_mode_is_combined_with_every_version():
    combined = [tuple(c.values()) for c in datasets.default_test_combinations()]
    assert combined == [("eager", 1), ("eager", 2), ("graph", 1), ("graph", 2)]


def test_files_of_records():
    fixed, lines, records = map(
        case,
        (readers.FixedLengthRecordDatasetTestBase, readers.TextLineDatasetTestBase, readers.TFRecordDatasetTestBase),
    )
    reading = tf.data.FixedLengthRecordDataset(fixed._createFiles(), 3, 5, 2)
    fixed.assertDatasetProduces(reading, [fixed._record(f, r) for f in range(2) for r in range(7)])
    for kind in (None, "GZIP", "ZLIB"):
        reading = tf.data.TextLineDataset(lines._createFiles(2, 3, crlf=True, compression_type=kind), kind)
        lines.assertDatasetProduces(reading, [lines._lineText(f, n) for f in range(2) for n in range(3)])
    with pytest.raises(ValueError):
        lines._createFiles(1, 1, compression_type="RAR")
    batches = tf.data.TFRecordDataset(records.test_filenames).repeat(2).batch(4, drop_remainder=True)
    records._verify_records(records.getNext(batches), 4, None, 2, 1, True, False)


def test_records_take_turns():
    assert list(readers.interleaved([iter([1, 2, 3]), iter([4]), iter([5, 6])], 2)) == [1, 4, 2, 3, 5, 6]


@pytest.mark.parametrize("label_key", [None, "label"])
def test_batches_of_features(label_key):
    t = case(readers.MakeBatchedFeaturesDatasetTestBase)
    t.outputs = t.getNext(t.make_batch_feature(t.test_filenames, 1, 4, label_key=label_key))
    t.verify_records(4, label_key_provided=label_key is not None)


def test_iterators_go_on_from_checkpoints():
    t = case(serialization.DatasetSerializationTestBase)
    t.run_core_tests(lambda: Dataset.range(7).map(lambda x: {"a": x, "b": (x + 1,)}), 7)
    t.run_core_tests(lambda: Dataset.range(4).map(lambda x: tf.SparseTensor([[0]], [x], [1])).batch(2), 2)
    rows = tf.SparseTensorValue([[0, 0], [1, 1]], [1, 2], [2, 2])
    t.run_core_tests(
        lambda: Dataset.from_sparse_tensor_slices(tf.SparseTensor.from_value(rows)), 2, sparse_tensors=True
    )
    t.verify_error_on_save(
        lambda: Dataset.from_generator(lambda: iter(range(5)), tf.int64), 5, tf.errors.FailedPreconditionError
    )
    t.does_not_match([1, {"a": np.arange(2)}], [1, {"a": np.arange(1, 3)}])
    with pytest.raises(AssertionError):
        t.run_core_tests(lambda: Dataset.range(5), 4)
    t.tearDown()


def test_statistics():
    t = case(stats.StatsDatasetTestBase)
    aggregator = tf.data.experimental.StatsAggregator()
    told = Dataset.range(3).apply(tf.data.experimental.bytes_produced_stats("bytes"))
    following = t.getNext(t.datasetExperimentalStats(told, aggregator), requires_initialization=True)
    for _ in range(3):
        t.evaluate(following())
    handle = t.getHandle(aggregator)
    t.assertStatisticsContains(handle, "bytes")
    t.assertStatisticsHasCount(handle, "bytes", 3.0)
    t.assertStatisticsHasSum(handle, "bytes", 24.0)
    t.assertStatisticsHasRange(handle, "bytes", 8.0, 8.0)
    with pytest.raises(AssertionError):
        t.assertStatisticsContains(handle, "time")
    assert t.regexForNodeName("MapDataset", "x") == r"MapDataset/_\d+::x"


def test_benchmarks_of_datasets(capsys):
    with tf.Graph().as_default():
        base = benchmarks.DatasetBenchmarkBase()
        assert base.run_and_report_benchmark(Dataset.range(100).map(lambda x: x), 50, "range", iters=2) > 0
    assert "DatasetBenchmarkBase.range" in capsys.readouterr().out


def test_people_make_classes_of_datasets():
    from everflow.legacy.inner.data import datasets as inner

    class Three(inner.DatasetSource):
        element_spec = property(lambda self: tf.TensorSpec([], tf.int64))

    class Doubled(inner.UnaryUnchangedStructureDataset):
        def __init__(self, source):
            super().__init__(source, source.map(lambda x: 2 * x)._variant_tensor)

    class Older(tf.data.Dataset):
        _as_variant_tensor = lambda self: Dataset.range(3)._variant_tensor  # noqa: E731
        output_types = property(lambda self: tf.int64)
        output_shapes = property(lambda self: tf.TensorShape([]))
        output_classes = property(lambda self: tf.Tensor)

    options = tf.data.Options()
    options.experimental_deterministic = False
    t = case(datasets.DatasetTestBase)
    three = Three(Dataset.range(3)._variant_tensor)
    t.assertDatasetProduces(three.map(lambda x: x + 1), [1, 2, 3])
    t.assertDatasetProduces(Doubled(three), [0, 2, 4])
    t.assertDatasetProduces(Older().batch(3), [[0, 1, 2]])
    t.assertDatasetProduces(inner.DatasetV1Adapter(three), [0, 1, 2])
    assert Doubled(three.with_options(options)).options().experimental_deterministic is False
    assert [len(d._inputs()) for d in (three, Doubled(three), Older())] == [0, 1, 0]
    with pytest.raises(TypeError):
        tf.data.Dataset()


def test_functions_called_in_parallel_tell_their_time():
    def rows():
        return Dataset.range(3).map(lambda x: tf.tile([x], [x]), num_parallel_calls=2)

    t = case(stats.StatsDatasetTestBase)
    t.parallelCallsStats(rows, {"ParallelMapDataset"}, 3, function_processing_time=True)
