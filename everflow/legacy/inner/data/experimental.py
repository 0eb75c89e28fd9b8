"""Names that programs take from inside TensorFlow's modules of experimental datasets: a class for each transformation."""

import enum

from everflow.data import experimental
from everflow.data.experimental import sources
from everflow.data.experimental.optimization import assert_next, non_serializable
from everflow.data.experimental.snapshots import snapshot
from everflow.data.experimental.threadpool import override_threadpool
from everflow.data.functions import StructuredFunction
from everflow.data.optional import Optional as _OptionalImpl  # noqa: F401
from everflow.data.structure import Elements, from_legacy
from everflow.legacy.inner.data.datasets import kind

# There is one kind of each here, with what both of TensorFlow's have.
CounterV1 = CounterV2 = experimental.Counter
CsvDatasetV2 = experimental.CsvDataset
RandomDatasetV2 = experimental.RandomDataset
SqlDatasetV2 = experimental.SqlDataset


class AutotuneAlgorithm(enum.Enum):
    """How `ModelDataset` looks for settings."""

    HILL_CLIMB = 0
    GRADIENT_DESCENT = 1


class StructuredFunctionWrapper(StructuredFunction, Elements):
    """A Python function on elements as a function of the graph, and the types of what it returns."""

    def __init__(
        self,
        func,
        transformation_name,
        dataset=None,
        input_classes=None,
        input_shapes=None,
        input_types=None,
        input_structure=None,
        **ways_of_drawing,
    ):
        given = (input_types, input_shapes, input_classes)
        ways = [dataset is not None, input_structure is not None, None not in given]
        if sum(ways) != 1:
            raise ValueError(
                "Say what the function takes in one way: by a dataset, an input_structure, or types, shapes and classes"
            )
        if input_structure is None:
            input_structure = from_legacy(*given) if dataset is None else dataset.element_spec
        super().__init__(func, transformation_name, input_structure, ways_of_drawing.get("use_legacy_function", False))
        self._element_spec = self.output_structure

    function = property(lambda self: self, doc="What has the captured tensors.")


def _applied(transformation):
    """What a transformation with settings makes of a dataset."""
    return lambda dataset, *settings, **named: transformation(*settings, **named)(dataset)


_KINDS = {
    "_AssertNextDataset": _applied(assert_next),
    "_CopyToDeviceDataset": _applied(experimental.copy_to_device),
    "_DenseToSparseBatchDataset": _applied(experimental.dense_to_sparse_batch),
    "_DirectedInterleaveDataset": sources._directed,
    "_GroupByReducerDataset": _applied(experimental.group_by_reducer),
    "_GroupByWindowDataset": lambda d, key_func, reduce_func, window_size_func: experimental.group_by_window(
        key_func, reduce_func, window_size_func=window_size_func
    )(d),
    "_IgnoreErrorsDataset": _applied(experimental.ignore_errors),
    "_MapAndBatchDataset": lambda d, map_func, batch_size, num_parallel_calls, drop_remainder, **drawing: (
        experimental.map_and_batch(map_func, batch_size, None, drop_remainder, num_parallel_calls)(d)
    ),
    "_NonSerializableDataset": _applied(non_serializable),
    "_ParseExampleDataset": _applied(experimental.parse_example_dataset),
    "_ScanDataset": _applied(experimental.scan),
    "_ShuffleAndRepeatDataset": _applied(experimental.shuffle_and_repeat),
    "_SnapshotDataset": _applied(snapshot),
    "_StatsDataset": lambda d, op_function, tag: d._then(op_function, tag=tag),
    "_TakeWhileDataset": _applied(experimental.take_while),
    "_ThreadPoolDataset": override_threadpool,
    "_UniqueDataset": _applied(experimental.unique),
}
globals().update({name: kind(name, make) for name, make in _KINDS.items()})
