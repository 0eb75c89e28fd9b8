"""Series from arrays and files, whole and in windows."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.timeseries.input_pipeline import TFExampleReader

ts = tf.contrib.timeseries
pytestmark = pytest.mark.usefixtures("own_graph")

TIMES, VALUES = ts.TrainEvalFeatures.TIMES, ts.TrainEvalFeatures.VALUES


def fetched(features):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coordinator)
        found = sess.run(features)
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=10, ignore_live_threads=True)
    return found


def counted(steps):
    return {TIMES: np.arange(steps), VALUES: np.arange(steps) * 1.5}


def test_a_whole_series_is_a_batch_of_one():
    features, labels = ts.WholeDatasetInputFn(ts.NumpyReader(counted(20)))()
    assert labels is None
    assert features[VALUES].shape.as_list() == [1, 20, 1]
    found = fetched(features)
    np.testing.assert_array_equal(found[TIMES], [np.arange(20)])
    np.testing.assert_array_equal(found[VALUES][0, :, 0], np.arange(20) * 1.5)


@pytest.mark.parametrize("jitter", [True, False])
def test_windows_are_steps_in_a_row(jitter):
    reader = ts.NumpyReader(counted(50))
    features, _ = ts.RandomWindowInputFn(reader, window_size=8, batch_size=4, jitter=jitter)()
    found = fetched(features)
    assert found[VALUES].shape == (4, 8, 1)
    np.testing.assert_array_equal(np.diff(found[TIMES], axis=1), np.ones([4, 7]))
    np.testing.assert_array_equal(found[VALUES][..., 0], found[TIMES] * 1.5)


def test_windows_longer_than_the_series_are_refused():
    with pytest.raises(ValueError, match="4"):
        ts.RandomWindowInputFn(ts.NumpyReader(counted(4)), window_size=8, batch_size=2)()


@pytest.mark.parametrize(
    "data",
    [
        {TIMES: np.arange(5)},
        {VALUES: np.arange(5)},
        {TIMES: np.arange(5), VALUES: np.arange(4)},
        {TIMES: np.arange(5), VALUES: np.zeros([5, 2, 2])},
        {TIMES: np.zeros([5, 1]), VALUES: np.zeros([5, 2])},
        {TIMES: np.arange(5), VALUES: np.zeros([5, 2]), "other": np.zeros([4])},
    ],
)
def test_arrays_that_make_no_series_are_refused(data):
    with pytest.raises(ValueError):
        ts.NumpyReader(data)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "series.csv"
    path.write_text("a line about it\n" + "".join(f"{i},{i * 1.5},{-i}\n" for i in range(30)))
    return str(path)


def test_files_are_read_whole(table):
    reader = ts.CSVReader(table, column_names=(TIMES, VALUES, VALUES), skip_header_lines=1)
    found = fetched(reader.read_full())
    np.testing.assert_array_equal(found[TIMES], np.arange(30))
    np.testing.assert_array_equal(found[VALUES], np.stack([np.arange(30) * 1.5, -np.arange(30.0)], 1))


def test_files_are_read_in_windows(table):
    reader = ts.CSVReader(table, column_names=(TIMES, VALUES, "other"), skip_header_lines=1, read_num_records_hint=7)
    features, _ = ts.RandomWindowInputFn(reader, window_size=5, batch_size=2, num_threads=1)()
    found = fetched(features)
    # Where the file ends and begins again, times go back: such windows are left out.
    assert (np.diff(found[TIMES], axis=1) > 0).all()
    np.testing.assert_array_equal(found["other"][..., 0], -found[TIMES])


@pytest.mark.parametrize(
    ("names", "types"),
    [((TIMES,), None), (("when", VALUES), None), ((TIMES, VALUES), (tf.int64,))],
)
def test_tables_without_what_a_series_needs_are_refused(names, types):
    with pytest.raises(ValueError):
        ts.CSVReader("series.csv", column_names=names, column_dtypes=types)


def test_examples_in_record_files(tmp_path):
    path = str(tmp_path / "series")
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(6):
            example = tf.train.Example()
            example.features.feature[TIMES].int64_list.value.append(i)
            example.features.feature[VALUES].float_list.value.append(2.0 * i)
            writer.write(example.SerializeToString())
    reader = TFExampleReader(
        [path], {TIMES: tf.FixedLenFeature([], tf.int64), VALUES: tf.FixedLenFeature([1], tf.float32)}
    )
    found = fetched(reader.read_full())
    np.testing.assert_array_equal(found[TIMES], np.arange(6))
    np.testing.assert_array_equal(found[VALUES][:, 0], 2.0 * np.arange(6))


def test_a_prediction_goes_on_after_an_evaluation():
    seen = {"times": np.array([[3, 4], [8, 9]]), "start_tuple": (np.zeros([2]),)}
    features, _ = ts.predict_continuation_input_fn(seen, steps=3)()
    np.testing.assert_array_equal(fetched(features["times"]), [[5, 6, 7], [10, 11, 12]])


@pytest.mark.parametrize("asked", [{}, {"steps": 2, "times": [[5]]}, {"times": [[4, 5]]}])
def test_a_prediction_of_no_times_or_old_ones_is_refused(asked):
    with pytest.raises(ValueError):
        ts.predict_continuation_input_fn({"times": np.array([[3, 4]]), "start_tuple": ()}, **asked)
