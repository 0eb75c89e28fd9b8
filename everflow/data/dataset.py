"""`tf.data.Dataset`: sequences of elements, made of tensors or of other datasets, step by step as ops of the graph."""

from __future__ import annotations

import functools
import warnings

import numpy as np

from everflow.data import batching, iterators, stateful, structure
from everflow.data.functions import StructuredFunction
from everflow.data.options import Options
from everflow.data.seeds import seed_tensors
from everflow.data.settings import as_bool, as_int64
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.scopes import executing_eagerly, get_default_graph
from everflow.framework.shapes import TensorShape
from everflow.framework.type_specs import TensorSpec
from everflow.ops.variables.trackable import Trackable


class DatasetSpec(structure.VariantSpec):
    """The type of a dataset: the specs of its elements.

    Args:
        element_spec: The specs of an element.
        dataset_shape: The shape, where it is a tensor of datasets.

    Example:
        >>> tf.data.DatasetSpec(tf.TensorSpec([], tf.int64)).value_type
        <class 'everflow.data.dataset.Dataset'>
    """

    def __init__(self, element_spec, dataset_shape=()):
        self._element_spec = element_spec
        self._dataset_shape = TensorShape(dataset_shape)

    element_spec = property(lambda self: self._element_spec)
    variant_shape = property(lambda self: self._dataset_shape)

    value_type = property(lambda self: Dataset)

    def from_variant(self, tensor):
        """The dataset, or datasets, that a tensor stands for."""
        if self._dataset_shape.rank == 0:
            return _VariantDataset(tensor, self._element_spec)
        return structure.NestedVariant(tensor, self)

    def reshaped(self, shape):
        """The same for a tensor of datasets of another shape."""
        return DatasetSpec(self._element_spec, shape)

    _batch, _unbatch = structure.batch, structure.unbatch

    @staticmethod
    def from_value(value):
        """The spec of a dataset."""
        return DatasetSpec(value.element_spec)

    def _serialize(self):
        return (self._element_spec, self._dataset_shape)

    def __hash__(self):
        return hash(tuple(structure.flatten(self._element_spec)))

    def __repr__(self):
        return f"DatasetSpec({self._element_spec!r}, {self._dataset_shape!r})"


def _kept_or(name, ask):
    """An attribute that is kept once it was set; until then, what a function of the object gives."""

    def read(self):
        return self.__dict__[name] if name in self.__dict__ else ask(self)

    return property(read, lambda self, value: self.__dict__.update({name: value}))


class Dataset(structure.Elements, structure.VariantValue, Trackable):
    """A sequence of elements: nests of tensors of one structure.

    Datasets are made by `from_tensor_slices`, `from_generator`, `range` and others, and from each other by methods; an
    iterator gives their elements to the graph.

    Args:
        variant_tensor: For people's own classes of datasets: the tensor that stands for one. Those of version 1 say it by
            `_as_variant_tensor` instead.

    Example:
        >>> dataset = tf.data.Dataset.from_tensor_slices([1, 2, 3, 4]).map(lambda x: x * x).batch(2)
        >>> batch = dataset.make_one_shot_iterator().get_next()
        >>> sess.run(batch), sess.run(batch)
        (array([1, 4], dtype=int32), array([ 9, 16], dtype=int32))
    """

    def __init__(self, variant_tensor=None):
        if variant_tensor is None:
            if not hasattr(self, "_as_variant_tensor"):
                raise TypeError(
                    "tf.data.Dataset can't be made directly; use from_tensors, from_tensor_slices, range, from_generator, ..."
                )
            variant_tensor = self._as_variant_tensor()
        self._variant_tensor = variant_tensor

    # What a dataset of somebody's own class was not given, its methods tell when it is asked for.
    _element_spec = _kept_or("_element_spec", lambda self: self._told_spec())
    _options = _kept_or(
        "_options", lambda self: functools.reduce(Options.merge, [d.options() for d in self._inputs()], Options())
    )
    _input_datasets = _kept_or("_input_datasets", lambda self: ())

    def _told_spec(self):
        kind = type(self)
        if kind.element_spec is not structure.Elements.element_spec:
            return self.element_spec
        if kind.output_types is not structure.Elements.output_types:
            return structure.from_legacy(self.output_types, self.output_shapes, self.output_classes)
        raise NotImplementedError(
            f"{kind.__name__} says what its elements are by a property element_spec, which it lacks"
        )

    _made_by = None  # the op type, where it is known: executing eagerly, a tensor has no op to ask
    _drawn_functions = ()  # those that the op was given

    def _begin(self, variant_tensor, element_spec, inputs=()):
        """What every dataset is: the tensor that stands for it, the specs of its elements, the datasets it is made of."""
        self._variant_tensor = variant_tensor
        self._element_spec = element_spec
        self._options = Options()
        self._input_datasets = list(inputs)
        for dataset in inputs:
            self._options = self._options.merge(dataset.options())
        return self

    @staticmethod
    def _make(variant_tensor, element_spec, inputs=()):
        return DatasetV1Adapter.__new__(DatasetV1Adapter)._begin(variant_tensor, element_spec, inputs)

    def _then(self, build, element_spec=None, **arguments):
        """The dataset that an op makes of this one; its elements are like these where no specs are given."""
        spec = self._element_spec if element_spec is None else element_spec
        return made(build, spec, inputs=[self], input_dataset=self._variant_tensor, **arguments)

    # --- what it is made of

    _type_spec = property(lambda self: DatasetSpec(self.element_spec))
    _graph = property(lambda self: get_default_graph() if executing_eagerly() else self._variant_tensor.graph)

    def __repr__(self):
        shapes = structure.map_nest(str, self.output_shapes)
        types = structure.map_nest(
            lambda t: repr(t) if not isinstance(t, dtypes.DType) else f"tf.{t.name}", self.output_types
        )
        return f"<{type(self).__name__} shapes: {shapes}, types: {types}>".replace("'", "")

    def __iter__(self):
        return iterators.of_values(self)

    def optionals(self):
        """What AutoGraph loops over in a graph: a function that gives the next element as an optional."""
        return iterators.IteratorV2(self).optionals()

    def options(self):
        """The options set for this dataset and those it is made of."""
        return self._options

    def with_options(self, options):
        """The same dataset with further options."""
        if not isinstance(options, Options):
            raise TypeError(f"with_options() takes tf.data.Options, not {options!r}")
        dataset = DatasetV1Adapter._make(self._variant_tensor, self._element_spec, [self])
        dataset._options = dataset._options.merge(options)
        return dataset

    def _inputs(self):
        """The datasets that it is made of."""
        return list(self._input_datasets)

    def _functions(self):
        """The functions that its op calls for elements."""
        return list(self._drawn_functions)

    def _has_captured_ref(self):
        """Whether a function of it, or of what it is made of, captured a variable as a reference."""
        if executing_eagerly():
            return False
        left, seen = [self], set()  # datasets may be joined by the thousand: no recursion
        while left:
            dataset = left.pop()
            if id(dataset) in seen:
                continue
            seen.add(id(dataset))
            captured = [tensor for function in dataset._functions() for tensor in function.captured_inputs]
            if any(t.dtype._is_ref_dtype for tensor in captured for t in (tensor, *tensor.op.inputs)):
                return True
            left += dataset._inputs()
        return False

    def _as_serialized_graph(self, stateful_whitelist=None):
        """A string tensor: the GraphDef that makes this dataset."""
        return raw.DatasetToGraph(input_dataset=self._variant_tensor, stateful_whitelist=stateful_whitelist or [])

    def _trace_variant_creation(self):
        """A function that makes this dataset again; see `exporting.making`."""
        from everflow.data.exporting import making  # eager execution is loaded where it is used

        return making(self)

    def _apply_options(self):
        """The dataset as an iterator takes it: with the ops that options ask for."""
        dataset, options = self, self._options
        threading = options.experimental_threading
        if threading.max_intra_op_parallelism is not None:
            size = convert_to_tensor(threading.max_intra_op_parallelism, dtypes.int64, name="max_intra_op_parallelism")
            dataset = dataset._then(raw.MaxIntraOpParallelismDataset, max_intra_op_parallelism=size)
        if threading.private_threadpool_size is not None:
            size = convert_to_tensor(threading.private_threadpool_size, dtypes.int64, name="num_threads")
            dataset = dataset._then(raw.PrivateThreadPoolDataset, num_threads=size)
        rewrites = options._static_optimizations()
        if rewrites and self._has_captured_ref():
            warnings.warn(
                f"A function of this dataset captured a variable as a reference, so it runs without these rewrites: {rewrites}. "
                "Variables with use_resource=True don't stand in their way.",
                stacklevel=2,
            )
        elif rewrites:
            dataset = dataset._then(
                raw.OptimizeDataset,
                optimizations=convert_to_tensor(rewrites, dtypes.string, name="optimizations"),
                optimization_configs=options._static_optimization_configs(),
            )
        optimization = options.experimental_optimization
        if optimization.autotune is not False:
            algorithm, budget = optimization.autotune_algorithm or 0, optimization.autotune_cpu_budget or 0
            dataset = dataset._then(raw.ModelDataset, algorithm=algorithm, cpu_budget=budget)
        stats = options.experimental_stats
        if stats.aggregator is not None:
            dataset = dataset._then(
                raw.SetStatsAggregatorDataset,
                stats_aggregator=stats.aggregator._resource,
                tag=convert_to_tensor(stats.prefix, dtypes.string, name="tag"),
                counter_prefix=convert_to_tensor(stats.counter_prefix, dtypes.string, name="counter_prefix"),
            )
        return dataset

    # --- sources

    @staticmethod
    def from_tensors(tensors):
        """A dataset of one element."""
        element = structure.normalize(tensors)
        spec = structure.map_nest(structure.spec_of, element)
        variant = raw.TensorDataset(
            components=structure.to_tensors(spec, element), output_shapes=structure.flat_shapes(spec)
        )
        return DatasetV1Adapter._make(variant, spec)

    @staticmethod
    def from_tensor_slices(tensors):
        """A dataset of the rows of tensors, all with the same first size.

        Args:
            tensors: A tensor or array, or a structure of them, with as many rows.

        Returns:
            A Dataset with an element for each row.

        Raises:
            IndexError: If there are no tensors.
            ValueError: If a scalar is among them.

        Example:
            >>> dataset = tf.data.Dataset.from_tensor_slices({"x": [1.0, 2.0], "y": [0, 1]})
            >>> sess.run(dataset.make_one_shot_iterator().get_next())
            {'x': np.float32(1.0), 'y': np.int32(0)}
        """
        element = structure.normalize(tensors)
        spec = structure.map_nest(structure.spec_of, element)
        if not structure.flatten(spec):
            raise IndexError("from_tensor_slices() takes at least one tensor, and was given none")
        for leaf, leaf_spec in zip(structure.flatten(element), structure.flatten(spec)):
            if isinstance(leaf_spec, TensorSpec) and leaf_spec.shape.rank == 0:
                raise ValueError(f"Value {leaf} has insufficient rank for batching.")
        rows = structure.unbatch(spec)
        components = structure.to_batched_tensors(spec, element)
        size = TensorShape([None])
        for tensor in components:
            size = size.merge_with(tensor.shape[:1] if tensor.shape.rank is not None else [None])
        variant = raw.TensorSliceDataset(components=components, output_shapes=structure.flat_shapes(rows))
        return DatasetV1Adapter._make(variant, rows)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor):
        """A dataset of the rows of a SparseTensor, each (indices, values, dense_shape)."""
        if not isinstance(sparse_tensor, SparseTensor):
            raise TypeError(f"from_sparse_tensor_slices() takes a SparseTensor, not {sparse_tensor!r}")
        rank = sparse_tensor.indices.shape.size(1)
        inner = None if rank is None else rank - 1
        spec = (
            TensorSpec([None, inner], dtypes.int64),
            TensorSpec([None], sparse_tensor.dtype),
            TensorSpec([inner], dtypes.int64),
        )
        variant = raw.SparseTensorSliceDataset(
            indices=sparse_tensor.indices, values=sparse_tensor.values, dense_shape=sparse_tensor.dense_shape
        )
        return DatasetV1Adapter._make(variant, spec)

    @staticmethod
    def from_generator(generator, output_types, output_shapes=None, args=None):
        """A dataset of what a Python function's iterator yields.

        Args:
            generator: A function without arguments, or with `args`, that returns an iterable.
            output_types: The types of an element.
            output_shapes: The shapes of an element; any if None.
            args: Tensors, whose values the function is called with.

        Returns:
            A Dataset.

        Raises:
            TypeError: If `generator` is no function.

        Example:
            >>> dataset = tf.data.Dataset.from_generator(lambda: (n * n for n in range(3)), tf.int32)
            >>> element = dataset.make_one_shot_iterator().get_next()
            >>> [int(sess.run(element)) for _ in range(3)]
            [0, 1, 4]
        """
        from everflow.data.generators import from_generator  # builds on this module

        return from_generator(generator, output_types, output_shapes, args)

    @staticmethod
    def range(*args):
        """The integers of a range, as int64: `range(stop)`, `range(start, stop)` or `range(start, stop, step)`.

        Args:
            *args: The limit; or the start, the limit and the step, as Python's `range` takes them.

        Returns:
            A Dataset of int64 scalars.

        Raises:
            ValueError: If there are too many numbers, or none.

        Example:
            >>> element = tf.data.Dataset.range(1, 7, 2).make_one_shot_iterator().get_next()
            >>> [int(sess.run(element)) for _ in range(3)]
            [1, 3, 5]
        """
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid `args`: {args}")
        start, stop, step = {1: lambda b: (0, b, 1), 2: lambda a, b: (a, b, 1), 3: lambda a, b, c: (a, b, c)}[
            len(args)
        ](*args)
        return made(raw.RangeDataset, TensorSpec([], dtypes.int64), **as_int64(start=start, stop=stop, step=step))

    @staticmethod
    def zip(datasets):
        """A dataset of nests of the elements of several datasets, as long as the shortest.

        Args:
            datasets: A structure of datasets.

        Returns:
            A Dataset whose elements have that structure; it ends with the shortest.

        Raises:
            TypeError: If the datasets are given in a list.

        Example:
            >>> both = tf.data.Dataset.zip((tf.data.Dataset.range(3), tf.data.Dataset.range(3, 6)))
            >>> sess.run(both.make_one_shot_iterator().get_next())
            (np.int64(0), np.int64(3))
        """
        parts = structure.flatten(datasets)
        for part in parts:
            if not isinstance(part, Dataset):
                hint = "; a list is a value here: use a tuple instead" if isinstance(part, list) else ""
                raise TypeError(
                    f"Dataset.zip takes tuples and dictionaries of datasets, got a {type(part).__name__}{hint}"
                )
        spec = structure.map_nest(lambda d: d.element_spec, datasets)
        return made(raw.ZipDataset, spec, inputs=parts, input_datasets=[d._variant_tensor for d in parts])

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None):
        """A dataset of the names of all files that match one or several patterns; shuffled unless asked not to be.

        Args:
            file_pattern: A pattern, or a list or tensor of them.
            shuffle: Whether the order is random; True if None.
            seed: A number that makes the random numbers the same in each run of the program.

        Returns:
            A Dataset of names, sorted where not shuffled.

        Raises:
            InvalidArgumentError: When it runs, if no file matches.

        Example:
            >>> open("a.txt", "w").close()
            >>> sess.run(tf.data.Dataset.list_files("*.txt").make_one_shot_iterator().get_next())
            b'./a.txt'
        """
        from everflow.data.files import list_files  # builds on this module

        return list_files(file_pattern, shuffle, seed)

    # --- iterators

    def make_one_shot_iterator(self):
        """An iterator over this dataset, once, that needs no initialisation."""
        return iterators.one_shot(self)

    def make_initializable_iterator(self, shared_name=None):
        """An iterator over this dataset that is initialised, and started again, by running its `initializer`."""
        return iterators.initializable(self, shared_name)

    # --- choosing, repeating, joining

    def _counted(self, build, count, name="count"):
        return self._then(build, **as_int64(**{name: count}))

    def repeat(self, count=None):
        """The elements again and again, `count` times or for ever."""
        return self._counted(raw.RepeatDataset, -1 if count is None else count)

    def take(self, count):
        """The first `count` elements; all with -1."""
        return self._counted(raw.TakeDataset, count)

    def skip(self, count):
        """All but the first `count` elements; none with -1."""
        return self._counted(raw.SkipDataset, count)

    def prefetch(self, buffer_size):
        """The same elements, prepared ahead."""
        return self._counted(raw.PrefetchDataset, -1 if buffer_size is None else buffer_size, "buffer_size")

    def shard(self, num_shards, index):
        """Every `num_shards`-th element, from the `index`-th on."""
        return self._then(raw.ShardDataset, **as_int64(num_shards=num_shards, index=index))

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=None):
        """The elements in a random order, drawn from a buffer; another order on each pass unless told otherwise."""
        size = as_int64(buffer_size=buffer_size)
        seed, seed2 = seed_tensors(seed)
        again = True if reshuffle_each_iteration is None else reshuffle_each_iteration
        return self._then(raw.ShuffleDataset, **size, seed=seed, seed2=seed2, reshuffle_each_iteration=again)

    def cache(self, filename=""):
        """The same elements, kept after the first pass: in memory, or in a file."""
        return self._then(raw.CacheDataset, filename=convert_to_tensor(filename, dtypes.string, name="filename"))

    def concatenate(self, dataset):
        """These elements, then those of another dataset."""
        if self.output_types != dataset.output_types:
            raise TypeError(
                f"Datasets to concatenate have different types: {self.output_types} and {dataset.output_types}"
            )
        if self.output_classes != dataset.output_classes:
            raise TypeError(
                f"Datasets to concatenate have different classes: {self.output_classes} and {dataset.output_classes}"
            )
        spec = structure.joined(self._element_spec, dataset._element_spec)
        joined = {"input_dataset": self._variant_tensor, "another_dataset": dataset._variant_tensor}
        return made(raw.ConcatenateDataset, spec, inputs=[self, dataset], **joined)

    def enumerate(self, start=0):
        """Pairs of a running number and an element."""
        return Dataset.zip((Dataset.range(start, np.iinfo(np.int64).max), self))

    def apply(self, transformation_func):
        """What a function of a dataset makes of this one."""
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(f"`transformation_func` must return a Dataset. Got {dataset}.")
        dataset._options = dataset._options.merge(self._options)
        return dataset

    # --- batches

    def batch(self, batch_size, drop_remainder=False):
        """Elements stacked `batch_size` at a time; the last, smaller batch is kept unless `drop_remainder`."""
        return batching.batch(self, batch_size, drop_remainder)

    def padded_batch(self, batch_size, padded_shapes, padding_values=None, drop_remainder=False):
        """Elements of different sizes stacked after filling them up.

        >>> dataset.padded_batch(32, padded_shapes=([None], []))
        """
        return batching.padded_batch(self, batch_size, padded_shapes, padding_values, drop_remainder)

    def unbatch(self):
        """The rows of each element."""
        return batching.unbatch(self)

    def window(self, size, shift=None, stride=1, drop_remainder=False):
        """Datasets of `size` elements each, as a nest of datasets for each window."""
        spec = structure.map_nest(DatasetSpec, self._element_spec)
        sizes = as_int64(size=size, shift=size if shift is None else shift, stride=stride)
        return self._then(raw.WindowDataset, spec, **sizes, **as_bool(drop_remainder=drop_remainder))

    # --- functions

    def _function(self, function, transformation, spec=None, legacy=False):
        return StructuredFunction(function, transformation, self._element_spec if spec is None else spec, legacy)

    def map(self, map_func, num_parallel_calls=None):
        """What a function gives for each element; a tuple is spread over its arguments.

        >>> dataset.map(lambda image, label: (tf.to_float(image) / 255.0, label))
        """
        return self._mapped(self._function(map_func, "Dataset.map()"), num_parallel_calls)

    def _mapped(self, function, num_parallel_calls):
        if num_parallel_calls is None:
            return self._then(raw.MapDataset, function.output_structure, **function.argument("f"))
        calls = convert_to_tensor(num_parallel_calls, dtypes.int32, name="num_parallel_calls")
        return self._then(
            raw.ParallelMapDataset, function.output_structure, num_parallel_calls=calls, **function.argument("f")
        )

    def map_with_legacy_function(self, map_func, num_parallel_calls=None):
        """`map` with a function drawn as a `Defun`: seeds of the graph around don't reach into it."""
        return self._mapped(self._function(map_func, "Dataset.map()", legacy=True), num_parallel_calls)

    def filter(self, predicate):
        """The elements for which a function gives True."""
        return self._filtered(self._function(predicate, "Dataset.filter()"))

    def _filtered(self, function):
        function.check_returns_scalar("predicate", dtypes.bool)
        return self._then(raw.FilterDataset, **function.argument("predicate"))

    def filter_with_legacy_function(self, predicate):
        """`filter` with a function drawn as a `Defun`."""
        return self._filtered(self._function(predicate, "Dataset.filter()", legacy=True))

    def flat_map(self, map_func):
        """The elements of the datasets that a function gives, one dataset after the other."""
        function = dataset_function(self, map_func, "Dataset.flat_map()")
        return self._then(raw.FlatMapDataset, function.output_structure.element_spec, **function.argument("f"))

    def interleave(self, map_func, cycle_length=-1, block_length=1, num_parallel_calls=None):
        """Like `flat_map`, but `block_length` elements at a time from `cycle_length` datasets in turn."""
        function = dataset_function(self, map_func, "Dataset.interleave()")
        lengths = as_int64(cycle_length=cycle_length, block_length=block_length)
        build = raw.InterleaveDataset
        if num_parallel_calls is not None:
            build, lengths = raw.ParallelInterleaveDatasetV2, lengths | as_int64(num_parallel_calls=num_parallel_calls)
        return self._then(build, function.output_structure.element_spec, **function.argument("f"), **lengths)

    def reduce(self, initial_state, reduce_func):
        """One value made of all elements: `reduce_func(state, element)` for each, from an initial state on.

        >>> dataset.reduce(np.int64(0), lambda total, x: total + x)
        """
        return stateful.reduce(self, initial_state, reduce_func)


class DatasetV1Adapter(Dataset):
    """A dataset that an op makes; made of another one, it is the same."""

    def __init__(self, dataset):
        self._begin(dataset._variant_tensor, dataset.element_spec, [dataset])

    def _as_variant_tensor(self):
        """The tensor that stands for it, by the name that classes of version 1 have for it."""
        return self._variant_tensor


class _VariantDataset(DatasetV1Adapter):
    """A dataset that comes as a tensor: an element of another one, or an argument of a function."""

    def __init__(self, dataset_variant, structure):
        self._begin(dataset_variant, structure)


def made(build, element_spec, inputs=(), **arguments) -> Dataset:
    """The dataset that an op makes, given the specs of its elements."""
    functions = {name: value for name, value in arguments.items() if isinstance(value, StructuredFunction)}
    given = arguments | {name: function.attr for name, function in functions.items()}
    dataset = Dataset._make(build(**structure.attributes(element_spec), **given), element_spec, inputs)
    dataset._made_by = getattr(build, "__name__", None)
    dataset._drawn_functions = tuple(functions.values())
    return dataset


def dataset_function(dataset, function, transformation) -> StructuredFunction:
    """A function of the graph that gives a dataset for each element."""
    drawn = dataset._function(function, transformation)
    if not isinstance(drawn.output_structure, DatasetSpec):
        raise TypeError(f"`map_func` must return a Dataset, not {drawn.output_structure}: `map` takes other functions")
    return drawn
