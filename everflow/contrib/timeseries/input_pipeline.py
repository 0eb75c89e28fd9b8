"""Series from arrays and files, and the input functions that cut them into windows or give them whole."""

from __future__ import annotations

import abc

import numpy as np

from everflow.contrib.timeseries.arrays import canonical_arrays
from everflow.contrib.timeseries.feature_keys import FilteringResults, PredictionFeatures, TrainEvalFeatures
from everflow.contrib.timeseries.steps import times_after
from everflow.estimator.inputs.feeding import enqueue_arrays
from everflow.framework import dtypes, nest
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import control_dependencies
from everflow.framework.shapes import TensorShape
from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow import cond, while_loop
from everflow.ops.io.examples import parse_example
from everflow.ops.io.parsing import decode_csv
from everflow.ops.io.readers import TextLineReader, TFRecordReader
from everflow.ops.random.distributions import random_uniform
from everflow.ops.tensor_arrays.tensor_array import TensorArray
from everflow.ops.variables import assign as state
from everflow.ops.variables.variable import VariableV1, is_variable_initialized
from everflow.train import input as queues

_TIMES, _VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES
# How many rows an array's thread puts into the queue at once, and how many the queue holds.
_ROWS_AT_ONCE, _ROWS_KEPT = 32, 1000


def predict_continuation_input_fn(evaluation, steps=None, times=None, exogenous_features=None):
    """An input function for `predict`: goes on where `evaluate` ended.

    Args:
        evaluation: What `evaluate` gave, with the state it ended in.
        steps: How many steps to predict; or
        times: The times to predict, `[batch, steps]`, later than those evaluated.
        exogenous_features: Further features of these times, by name.

    Returns:
        A function that gives the features, once.

    Raises:
        ValueError: If not one of `steps` and `times` is given, or times are not later.
    """
    features = {
        PredictionFeatures.STATE_TUPLE: evaluation[FilteringResults.STATE_TUPLE],
        PredictionFeatures.TIMES: times_after(evaluation[FilteringResults.TIMES], steps, times),
        **(exogenous_features or {}),
    }

    def input_fn():
        return nest.map_structure(lambda value: queues.limit_epochs(np.asarray(value), num_epochs=1), features), None

    return input_fn


class TimeSeriesReader(abc.ABC):
    """Where a series comes from."""

    def check_dataset_size(self, minimum_dataset_size):  # noqa: B027  most readers can't know
        """Raises ValueError if it is known that there are fewer records; files are not counted."""

    @abc.abstractmethod
    def read(self):
        """Some records, one after the other: a dictionary of tensors `[records, ...]`."""

    @abc.abstractmethod
    def read_full(self):
        """All records at once: a dictionary of tensors."""


class NumpyReader(TimeSeriesReader):
    """A series in memory.

    Args:
        data: Arrays by name, `"times"` `[steps]` and `"values"` `[steps, features]` among them.
        read_num_records_hint: How many records `read` gives at once.

    Raises:
        ValueError: If times or values are missing, or lengths differ.
    """

    def __init__(self, data, read_num_records_hint=4096):
        self._features = canonical_arrays(data, require_single_batch=True)
        self._read_num_records_hint = read_num_records_hint

    def check_dataset_size(self, minimum_dataset_size):
        size = self._features[_TIMES].shape[1]
        if size < minimum_dataset_size:
            raise ValueError(
                f"Windows of {minimum_dataset_size} records are asked for, and the series has {size}: ask for shorter windows or give more records"
            )

    def read(self):
        queue = self._queue([values[0] for values in self._features.values()], _ROWS_KEPT, _ROWS_AT_ONCE)
        return dict(zip(self._features, queue.dequeue_many(self._read_num_records_hint)[1:], strict=True))

    def read_full(self):
        whole = self._queue(list(self._features.values()), 2, 1).dequeue_many(1)[1:]
        return {name: array.squeeze(values, axis=[0]) for name, values in zip(self._features, whole, strict=True)}

    def _queue(self, arrays, capacity, enqueue_size):
        return enqueue_arrays(
            arrays, capacity, shuffle=False, num_threads=1, enqueue_size=enqueue_size, num_epochs=None
        )


class ReaderBaseTimeSeriesParser(TimeSeriesReader):
    """A series in files: kinds differ in how records are read and what they become.

    Args:
        filenames: The files, in order.
        read_num_records_hint: How many records `read` gives at once.
    """

    def __init__(self, filenames, read_num_records_hint=4096):
        self._filenames = filenames
        self._read_num_records_hint = read_num_records_hint

    @abc.abstractmethod
    def _get_reader(self):
        """The reader of records."""

    @abc.abstractmethod
    def _process_records(self, lines):
        """Features of serialized records."""

    def _get_filename_queue(self, epoch_limit):
        """(a queue of the files, a variable that counts how often all were put into it since it was last set to 0).

        Reading sets it to 0, so the queue ends only where files hold no records: these would be read for ever.
        """
        epochs = VariableV1(
            constant(0, dtype=dtypes.int64),
            name="epoch_limiter",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )
        names = array.reshape(constant(self._filenames, dtype=dtypes.string), [-1])
        # Whoever looks at the names before variables have their first values may do so.
        counted = cond(
            is_variable_initialized(epochs),
            lambda: state.count_up_to(epochs, epoch_limit),
            lambda: constant(0, dtype=dtypes.int64),
        )
        with control_dependencies([counted]):
            names = array.identity(names)
        return queues.string_input_producer(names, shuffle=False, capacity=1), epochs

    def read(self):
        queue, epochs = self._get_filename_queue(epoch_limit=self._read_num_records_hint)
        reader = self._get_reader()
        with control_dependencies([state.assign(epochs, 0)]):
            _, records = reader.read_up_to(queue, self._read_num_records_hint)
        return self._process_records(records)

    def read_full(self):
        reader = self._get_reader()
        # One time through the files, and the beginning of another.
        queue, epochs = self._get_filename_queue(epoch_limit=2)
        with control_dependencies([state.assign(epochs, 0)]):
            first_key, first_value = reader.read_up_to(queue, 1)

        def go_on(key, *_):
            return math.not_equal(array.squeeze(key, axis=[0]), array.squeeze(first_key, axis=[0]))

        def one_more(_, value, count, records):
            next_key, next_value = reader.read_up_to(queue, 1)
            return next_key, next_value, count + 1, records.write(count, value)

        records = while_loop(
            go_on,
            one_more,
            [constant([""]), first_value, 0, TensorArray(dtypes.string, size=0, dynamic_size=True)],
            shape_invariants=[TensorShape([None]), TensorShape([None]), TensorShape([]), TensorShape(None)],
        )[3]
        found = records.concat()
        # The record after the last is the first again, and is not given: the reader begins anew.
        with control_dependencies([found]), control_dependencies([reader.reset()]):
            return self._process_records(array.identity(found))


class CSVReader(ReaderBaseTimeSeriesParser):
    """A series in files of comma-separated values.

    Args:
        filenames: The files, in order.
        column_names: What the columns are; `"times"` and `"values"` must be there, `"values"` once for each of several.
        column_dtypes: Their types; int64 for times and float32 for the rest by default.
        skip_header_lines: How many lines at the top of a file to pass over.
        read_num_records_hint: How many records `read` gives at once.

    Raises:
        ValueError: If a column is missing, or types are not as many as names.
    """

    def __init__(
        self,
        filenames,
        column_names=(_TIMES, _VALUES),
        column_dtypes=None,
        skip_header_lines=None,
        read_num_records_hint=4096,
    ):
        for name in (_TIMES, _VALUES):
            if name not in column_names:
                raise ValueError(f"A series needs a column '{name}'; there are {column_names}")
        if column_dtypes is None:
            column_dtypes = [dtypes.int64 if name == _TIMES else dtypes.float32 for name in column_names]
        elif len(column_dtypes) != len(column_names):
            raise ValueError(
                f"{len(column_names)} columns {column_names} have {len(column_dtypes)} types {column_dtypes}"
            )
        self._column_names = column_names
        self._column_dtypes = column_dtypes
        self._skip_header_lines = skip_header_lines
        super().__init__(filenames, read_num_records_hint)

    def _get_reader(self):
        return TextLineReader(skip_header_lines=self._skip_header_lines)

    def _process_records(self, lines):
        # A column that is float32 must have a value; an empty one of another type is zero.
        defaults = [[] if dtype == dtypes.float32 else [array.zeros([], dtype)] for dtype in self._column_dtypes]
        columns = {}
        for name, values in zip(self._column_names, decode_csv(lines, defaults), strict=True):
            columns.setdefault(name, []).append(values)
        return {name: values[0] if name == _TIMES else array.stack(values, axis=1) for name, values in columns.items()}


class TFExampleReader(ReaderBaseTimeSeriesParser):
    """A series in TFRecord files of `tf.train.Example`s.

    Args:
        filenames: The files, in order.
        features: The features, as `tf.io.parse_example` takes them; `"times"`, an int64, and `"values"` among them.

    Raises:
        ValueError: If times or values are missing, or times are not int64 scalars.
    """

    def __init__(self, filenames, features):
        for name in (_TIMES, _VALUES):
            if name not in features:
                raise ValueError(f"A series needs a feature '{name}'; there are {sorted(features)}")
        times = features[_TIMES]
        if times.dtype != dtypes.int64 or (times.shape and times.shape != (1,)):
            raise ValueError(f"Times must be int64 scalars, not {times}")
        self._features = features
        super().__init__(filenames)

    def _get_reader(self):
        return TFRecordReader()

    def _process_records(self, lines):
        found = parse_example(lines, features=self._features)
        found[_TIMES] = array.squeeze(found[_TIMES], axis=[1]) if found[_TIMES].shape.ndims == 2 else found[_TIMES]
        if found[_VALUES].shape.ndims == 1:
            found[_VALUES] = array.expand_dims(found[_VALUES], axis=1)
        return found


class TimeSeriesInputFn(abc.ABC):
    """An input function over a reader."""

    @abc.abstractmethod
    def create_batch(self):
        """Features `[batch, steps, ...]` by name, and no labels."""

    def __call__(self):
        return self.create_batch()


class WholeDatasetInputFn(TimeSeriesInputFn):
    """The whole series as a batch of one, again and again.

    Args:
        time_series_reader: Where the series comes from.
    """

    def __init__(self, time_series_reader):
        self._reader = time_series_reader

    def create_batch(self):
        return {name: values[None, ...] for name, values in self._reader.read_full().items()}, None


class RandomWindowInputFn(TimeSeriesInputFn):
    """Windows of a series, in random order: for training.

    Args:
        time_series_reader: Where the series comes from.
        window_size: How many steps a window has.
        batch_size: How many windows a batch has.
        queue_capacity_multiplier: How many batches wait.
        shuffle_min_after_dequeue_multiplier: How many batches must stay to choose among.
        discard_out_of_order: Whether windows whose times go back are left out, as where files end and begin again.
        discard_consecutive_batches_limit: After how many batches without a good window to give up.
        jitter: Whether windows begin anywhere rather than at multiples of their size.
        num_threads: How many threads fill each queue.
        shuffle_seed: A number that makes the order the same each time.
    """

    def __init__(
        self,
        time_series_reader,
        window_size,
        batch_size,
        queue_capacity_multiplier=1000,
        shuffle_min_after_dequeue_multiplier=2,
        discard_out_of_order=True,
        discard_consecutive_batches_limit=1000,
        jitter=True,
        num_threads=2,
        shuffle_seed=None,
    ):
        self._reader = time_series_reader
        self._window_size = window_size
        self._batch_size = batch_size
        self._queue_capacity_multiplier = queue_capacity_multiplier
        self._shuffle_min_after_dequeue_multiplier = shuffle_min_after_dequeue_multiplier
        self._discard_out_of_order = discard_out_of_order
        self._discard_consecutive_batches_limit = discard_consecutive_batches_limit
        self._jitter = jitter
        self._num_threads = num_threads
        self._shuffle_seed = shuffle_seed

    def create_batch(self):
        self._reader.check_dataset_size(self._window_size)
        windows = self._windows(self._reader.read())
        return queues.maybe_shuffle_batch(
            windows,
            batch_size=self._batch_size,
            keep_input=self._in_order(windows[_TIMES]) if self._discard_out_of_order else True,
            capacity=self._queue_capacity_multiplier * self._batch_size,
            min_after_dequeue=self._shuffle_min_after_dequeue_multiplier * self._batch_size,
            enqueue_many=True,
            num_threads=self._num_threads,
            seed=self._shuffle_seed,
        ), None

    def _windows(self, records):
        """Records, one after the other, as `batch_size` windows; with jitter a record more or less is passed over."""
        size = self._window_size * self._batch_size
        passed_over = random_uniform(shape=[], maxval=2, dtype=dtypes.int32) if self._jitter else None
        taken = queues.batch(
            records,
            batch_size=size if passed_over is None else size + passed_over,
            enqueue_many=True,
            capacity=self._queue_capacity_multiplier * size,
            num_threads=self._num_threads,
        )
        if passed_over is not None:
            taken = {name: values[passed_over:] for name, values in taken.items()}
        shape = [self._batch_size, self._window_size]
        return {
            name: array.reshape(values, array.concat([shape, array.shape(values)[1:]], axis=0))
            for name, values in taken.items()
        }

    def _in_order(self, times):
        """Which windows have times that never go back; counts batches that have none, and gives up after too many."""
        good = math.reduce_all(times[:, 1:] >= times[:, :-1], axis=1)
        discarded = VariableV1(
            constant(0, dtype=dtypes.int64),
            name="discarded_windows_limiter",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )

        def counted():
            return cond(
                math.reduce_any(good),
                lambda: state.assign(discarded, 0),
                lambda: state.count_up_to(discarded, self._discard_consecutive_batches_limit),
            )

        # A queue runner may come before the variables have their first values.
        count = cond(is_variable_initialized(discarded), counted, lambda: constant(0, dtype=dtypes.int64))
        with control_dependencies([count]):
            return array.identity(good)
