"""Names that programs take from inside TensorFlow's modules of datasets: a class for each transformation, and the base
classes of people's own datasets.
"""

import functools

from everflow.data import Dataset, FixedLengthRecordDataset, TextLineDataset, TFRecordDataset, structure
from everflow.data.dataset import (
    DatasetV1Adapter,
    _VariantDataset,  # noqa: F401
)
from everflow.data.experimental.optimization import optimize
from everflow.data.experimental.stats import set_stats_aggregator
from everflow.data.files import read_fixed_length, read_plain
from everflow.data.functions import StructuredFunction
from everflow.data.iterators import _IN_A_LOOP as GET_NEXT_CALL_WARNING_MESSAGE  # noqa: F401
from everflow.data.iterators import _ITERATORS as GLOBAL_ITERATORS  # noqa: F401
from everflow.data.iterators import _OFTEN as GET_NEXT_CALL_WARNING_THRESHOLD  # noqa: F401
from everflow.data.iterators import IteratorSaveable as _IteratorSaveable  # noqa: F401
from everflow.data.legacy import get_output_classes, get_output_shapes, get_output_types
from everflow.data.seeds import seed_tensors as get_seed  # noqa: F401
from everflow.data.settings import optional_tensor
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.shapes import TensorShape
from everflow.framework.type_specs import TensorSpec

# There is one kind of dataset here, with what both of TensorFlow's have.
DatasetV1 = DatasetV2 = Dataset
FixedLengthRecordDatasetV1 = FixedLengthRecordDatasetV2 = FixedLengthRecordDataset
TextLineDatasetV1 = TextLineDatasetV2 = TextLineDataset
TFRecordDatasetV1 = TFRecordDatasetV2 = TFRecordDataset
get_legacy_output_classes = get_output_classes
get_legacy_output_shapes = get_output_shapes
get_legacy_output_types = get_output_types
INFINITE, UNKNOWN = -1, -2


# --- people's own datasets ---------------------------------------------------------------------


class DatasetSource(Dataset):
    """A dataset that an op makes of no other; a subclass says what its elements are by `element_spec`."""

    def _inputs(self):
        return []


class UnaryDataset(Dataset):
    """A dataset that an op makes of another one."""

    def __init__(self, input_dataset, variant_tensor):
        self._input_dataset = input_dataset
        super().__init__(variant_tensor)

    def _inputs(self):
        return [self._input_dataset]


class UnaryUnchangedStructureDataset(UnaryDataset):
    """One whose elements are like those of the other."""

    element_spec = property(lambda self: self._input_dataset.element_spec)


# --- a class for each transformation -----------------------------------------------------------


def _restructured(dataset, spec):
    leaves = structure.flatten(spec)
    types = structure.flat_types(dataset.element_spec)
    if [leaf.dtype for leaf in leaves if isinstance(leaf, TensorSpec)] != [t for t in types if t is not dtypes.variant]:
        raise ValueError(f"Elements of {dataset.element_spec} can't be taken for {spec}")
    return DatasetV1Adapter._make(dataset._variant_tensor, spec, [dataset])


_GENERATOR = "Dataset.from_generator()"


def _generated(init_args, init_func, next_func, finalize_func):
    spec = structure.map_nest(structure.spec_of, init_args)
    init = StructuredFunction(init_func, _GENERATOR, spec)
    following = StructuredFunction(next_func, _GENERATOR, init.output_structure)
    finish = StructuredFunction(finalize_func, _GENERATOR, init.output_structure)
    given = [v if structure.is_composite(v) else convert_to_tensor(v) for v in structure.flatten(init_args)]
    tensors = structure.to_tensors(spec, structure.pack_as(spec, given))
    variant = raw.GeneratorDataset(
        init_func_other_args=[*tensors, *init.captured_inputs],
        next_func_other_args=following.captured_inputs,
        finalize_func_other_args=finish.captured_inputs,
        init_func=init.attr,
        next_func=following.attr,
        finalize_func=finish.attr,
        **structure.attributes(following.output_structure),
    )
    return DatasetV1Adapter._make(variant, following.output_structure)


def _of_op(build, *names):
    """What an op makes of a dataset, with settings as int64."""

    def make(dataset, *settings):
        tensors = [convert_to_tensor(value, dtypes.int64, name=name) for name, value in zip(names, settings)]
        return dataset._then(build, **dict(zip(names, tensors)))

    return make


def _prefetched(dataset, buffer_size, slack_period=None):
    size = optional_tensor("buffer_size", buffer_size, -1)
    return dataset._then(raw.PrefetchDataset, buffer_size=size, slack_period=slack_period or 0)


def _mapped(
    dataset,
    function,
    build,
    calls,
    use_inter_op_parallelism=True,
    preserve_cardinality=False,
    use_legacy_function=False,
):
    """What a function gives for each element; functions are drawn in one way, however they are asked for."""
    drawn = dataset._function(function, "Dataset.map()")
    settings = {"use_inter_op_parallelism": use_inter_op_parallelism, "preserve_cardinality": preserve_cardinality}
    return dataset._then(build, drawn.output_structure, **drawn.argument("f"), **calls, **settings)


def _sleeping(dataset, sleep_microseconds):
    return dataset._then(raw.SleepDataset, sleep_microseconds=sleep_microseconds)


def sleep(sleep_microseconds):
    """The same dataset, which waits before each element."""
    return lambda dataset: _sleeping(dataset, sleep_microseconds)


_KINDS = {
    "BatchDataset": Dataset.batch,
    "CacheDataset": Dataset.cache,
    "ConcatenateDataset": Dataset.concatenate,
    "FilterDataset": lambda d, predicate, use_legacy_function=False: d.filter(predicate),
    "FlatMapDataset": Dataset.flat_map,
    "InterleaveDataset": Dataset.interleave,
    "MapDataset": lambda d, f, *ways, **settings: _mapped(d, f, raw.MapDataset, {}, *ways, **settings),
    "MatchingFilesDataset": lambda patterns: DatasetV1Adapter._make(
        raw.MatchingFilesDataset(patterns=convert_to_tensor(patterns, dtypes.string, name="patterns")),
        TensorSpec([], dtypes.string),
    ),
    "PaddedBatchDataset": Dataset.padded_batch,
    "ParallelInterleaveDataset": Dataset.interleave,
    "ParallelMapDataset": lambda d, f, calls, *ways, **settings: _mapped(
        d,
        f,
        raw.ParallelMapDataset,
        {"num_parallel_calls": convert_to_tensor(calls, dtypes.int32, name="num_parallel_calls")},
        *ways,
        **settings,
    ),
    "PrefetchDataset": _prefetched,
    "RangeDataset": Dataset.range,
    "RepeatDataset": Dataset.repeat,
    "ShardDataset": Dataset.shard,
    "ShuffleDataset": Dataset.shuffle,
    "SkipDataset": Dataset.skip,
    "SparseTensorSliceDataset": Dataset.from_sparse_tensor_slices,
    "TakeDataset": Dataset.take,
    "TensorDataset": Dataset.from_tensors,
    "TensorSliceDataset": Dataset.from_tensor_slices,
    "WindowDataset": Dataset.window,
    "ZipDataset": Dataset.zip,
    "_FixedLengthRecordDataset": read_fixed_length,
    "_GeneratorDataset": _generated,
    "_MaxIntraOpParallelismDataset": _of_op(raw.MaxIntraOpParallelismDataset, "max_intra_op_parallelism"),
    "_ModelDataset": lambda d, algorithm=0, cpu_budget=0: d._then(
        raw.ModelDataset, algorithm=getattr(algorithm, "value", algorithm), cpu_budget=cpu_budget
    ),
    "_OptimizeDataset": lambda d, optimizations, optimization_configs=None: optimize(optimizations)(d),
    "_OptionsDataset": Dataset.with_options,
    "_PrivateThreadPoolDataset": _of_op(raw.PrivateThreadPoolDataset, "num_threads"),
    "_RestructuredDataset": _restructured,
    "_SetStatsAggregatorDataset": lambda d, aggregator, prefix, counter: set_stats_aggregator(
        aggregator, prefix, counter
    )(d),
    "_SleepDataset": _sleeping,
    "_TFRecordDataset": functools.partial(read_plain, "TFRecordDataset"),
    "_TextLineDataset": functools.partial(read_plain, "TextLineDataset"),
    "_UnbatchDataset": Dataset.unbatch,
}


def kind(name, make):
    """A class of datasets that a function makes."""

    def begin(self, *arguments, **settings):
        made = make(*arguments, **settings)
        self._begin(made._variant_tensor, made.element_spec, made._inputs())
        self._options, self._drawn_functions, self._made_by = made.options(), made._drawn_functions, made._made_by

    return type(name, (DatasetV1Adapter,), {"__init__": begin, "__doc__": "A dataset by TensorFlow's inner name."})


globals().update({name: kind(name, make) for name, make in _KINDS.items()})


def _should_unpack_args(args):
    """Whether an element is spread over the arguments of a function."""
    return type(args) is tuple


# --- functions ---------------------------------------------------------------------------------


def obtain_all_variant_tensor_ops(dataset):
    """The ops that make a dataset and those it is made of, the last one first; one as often as it is used."""
    waiting, found = [dataset._variant_tensor.op], []
    while waiting:
        op = waiting.pop(0)
        found.append(op)
        waiting.extend(t.op for t in op.inputs if t.dtype.base_dtype is dtypes.variant)
    return found


def optional_param_to_tensor(argument_name, argument_value, argument_default=0, argument_dtype=dtypes.int64):
    """A setting that need not be given, as a tensor."""
    return optional_tensor(argument_name, argument_value, argument_default, argument_dtype)


def partial_shape_to_tensor(shape_like):
    """A shape as an int64 vector, with -1 where a size is not known."""
    try:
        sizes = TensorShape(
            [None if d == -1 else d for d in shape_like] if isinstance(shape_like, list) else shape_like
        )
        sizes = sizes.as_list()
    except (TypeError, ValueError):
        made = convert_to_tensor(shape_like)
        if made.shape.rank is not None and made.shape.rank != 1:
            raise ValueError(f"A shape is a vector, and {shape_like} has shape {made.shape}") from None
        if made.dtype is not dtypes.int64:
            raise TypeError(
                f"The given shape {shape_like} must be a tensor of int64, not of {made.dtype.name}"
            ) from None
        return made
    return convert_to_tensor([-1 if size is None else size for size in sizes], dtypes.int64)
