"""Datasets that come from nothing: counters and random numbers; and datasets chosen from several."""

from __future__ import annotations

from everflow.data import structure
from everflow.data.dataset import Dataset, _VariantDataset, made
from everflow.data.experimental.transformations import scan
from everflow.data.seeds import seed_tensors
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensorSpec
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.framework.scopes import name_scope
from everflow.framework.type_specs import TensorSpec
from everflow.ops import array, math
from everflow.ops.ragged.spec import RaggedTensorSpec
from everflow.ops.tensor_arrays.spec import TensorArraySpec


def Counter(start=0, step=1, dtype=dtypes.int64):
    """The numbers from `start` on, by `step`, for ever.

    Args:
        start: The first number.
        step: From a number to the next.
        dtype: The type of the elements.

    Returns:
        A Dataset.

    Example:
        >>> element = tf.data.experimental.Counter(5, 2).make_one_shot_iterator().get_next()
        >>> sess.run(element), sess.run(element)
        (np.int64(5), np.int64(7))
    """
    with name_scope("counter"):
        start = convert_to_tensor(start, dtype=dtype, name="start")
        step = convert_to_tensor(step, dtype=dtype, name="step")
        return Dataset.from_tensors(0).repeat(None).apply(scan(start, lambda state, _: (state + step, state)))


class RandomDatasetV1(Dataset):
    """Random int64 numbers, for ever.

    Args:
        seed: A number that makes the random numbers the same in each run of the program.

    Example:
        >>> sess.run(tf.data.experimental.RandomDataset(seed=1).make_one_shot_iterator().get_next()).dtype
        dtype('int64')
    """

    def __init__(self, seed=None):
        first, second = seed_tensors(seed)
        dataset = made(raw.RandomDataset, TensorSpec([], dtypes.int64), seed=first, seed2=second)
        self._begin(dataset._variant_tensor, dataset.element_spec)


def _directed(selector, datasets):
    if not datasets:
        raise ValueError("`datasets` must be a non-empty list of `Dataset` objects.")
    spec = datasets[0].element_spec
    for i, dataset in enumerate(datasets[1:], 1):
        for read in (structure.legacy_types, structure.legacy_classes):
            if read(dataset.element_spec) != read(datasets[0].element_spec):
                raise TypeError(
                    f"Datasets to choose from must have the same types and classes; dataset {i} has others than dataset 0"
                )
        spec = structure.joined(spec, dataset.element_spec)
    tensors = {"selector_input_dataset": selector._variant_tensor}
    tensors["data_input_datasets"] = [d._variant_tensor for d in datasets]
    return made(raw.DirectedInterleaveDataset, spec, inputs=[selector, *datasets], **tensors)


def choose_from_datasets(datasets, choice_dataset):
    """Elements of several datasets in the order that a dataset of int64 numbers says.

    Args:
        datasets: The datasets.
        choice_dataset: A Dataset of int64 scalars.

    Returns:
        A Dataset.

    Raises:
        TypeError: If the choices are of the wrong kind.

    Example:
        >>> sources = [tf.data.Dataset.from_tensors(n).repeat() for n in (10, 20)]
        >>> choice = tf.data.Dataset.from_tensor_slices(tf.constant([1, 0], tf.int64))
        >>> element = tf.data.experimental.choose_from_datasets(sources, choice).make_one_shot_iterator().get_next()
        >>> sess.run(element), sess.run(element)
        (np.int32(20), np.int32(10))
    """
    if not structure.is_scalar(choice_dataset.element_spec, dtypes.int64):
        raise TypeError(f"`choice_dataset` must have int64 scalars as elements, not {choice_dataset.element_spec}")
    return _directed(choice_dataset, datasets)


def sample_from_datasets(datasets, weights=None, seed=None):
    """Elements of several datasets in a random order, by weights.

    Args:
        datasets: The datasets.
        weights: The weights: a list, a tensor, or a Dataset of such; all alike if None.
        seed: A number that makes the random numbers the same in each run of the program.

    Returns:
        A Dataset.

    Raises:
        TypeError: If the weights are of the wrong type.
        IndexError: If there are no datasets.
        ValueError: If there are not as many weights as datasets.

    Example:
        >>> sources = [tf.data.Dataset.from_tensors(n).repeat() for n in (10, 20)]
        >>> mixed = tf.data.experimental.sample_from_datasets(sources, [0.0, 1.0])
        >>> sess.run(mixed.make_one_shot_iterator().get_next())
        np.int32(20)
    """
    if not datasets:
        raise IndexError("`datasets` is empty: there is nothing to draw elements from")
    if weights is None:
        return _directed(_drawn_evenly(len(datasets), seed), datasets)
    if isinstance(weights, Dataset):
        return _directed(_drawn_by(weights, seed), datasets)
    weights = convert_to_tensor(weights, name="weights")
    if weights.dtype not in (dtypes.float32, dtypes.float64):
        raise TypeError(f"`weights` must be float32 or float64, not {weights.dtype.name}")
    if not weights.shape.is_compatible_with([len(datasets)]):
        raise ValueError(
            f"`weights` must be a vector with one number for each of {len(datasets)} datasets, got {weights.shape}"
        )
    logits = array.expand_dims(math.log(weights, name="logits"), 0)

    return _directed(_drawn_with(logits, seed), datasets)


def _drawn_evenly(count, seed):
    """Indices of which each is as likely as any other."""
    return _drawn_with([[1.0] * count], seed)


def _drawn_with(logits, seed):
    """Indices drawn by weights that stay the same."""

    def select_dataset_constant_logits(seed):
        return array.squeeze(_multinomial(logits, seed), axis=[0, 1])

    return _mapped(RandomDatasetV1(seed).batch(2), select_dataset_constant_logits)


def _multinomial(logits, seed) -> Tensor:
    return raw.StatelessMultinomial(logits=logits, num_samples=1, seed=seed)


def _drawn_by(weights, seed):
    """Indices drawn by weights that change from element to element."""
    logits = weights.map(lambda *p: math.log(p, name="logits"))

    def select_dataset_varying_logits(logits, seed):
        return array.squeeze(_multinomial(logits, seed), axis=[0, 1])

    pairs = Dataset.zip((logits, RandomDatasetV1(seed).batch(2)))
    return _mapped(pairs, select_dataset_varying_logits)


def _mapped(dataset, function):
    """What a function gives for each element; it is so small that threads of its own would not pay."""
    drawn = dataset._function(function, "Dataset.map()")
    arguments = drawn.argument("f") | {"use_inter_op_parallelism": False}
    return dataset._then(raw.MapDataset, drawn.output_structure, **arguments)


def cardinality(dataset):
    """How many elements a dataset has, as an int64 tensor: INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, or a number.

    Args:
        dataset: The dataset.

    Returns:
        A scalar.

    Example:
        >>> sess.run(tf.data.experimental.cardinality(tf.data.Dataset.range(3).repeat(2)))
        np.int64(6)
    """
    return raw.DatasetCardinality(input_dataset=dataset._variant_tensor)


def _checked(dataset):
    if not isinstance(dataset, Dataset):
        raise TypeError(f"`dataset` must be a tf.data.Dataset, not {dataset!r}")
    return dataset


def get_single_element(dataset):
    """The only element of a dataset, without an iterator.

    Args:
        dataset: The dataset.

    Returns:
        A structure of tensors.

    Raises:
        InvalidArgumentError: When it runs, if there isn't exactly one.

    Example:
        >>> sess.run(tf.data.experimental.get_single_element(tf.data.Dataset.range(4).batch(4)))
        array([0, 1, 2, 3])
    """
    spec = _checked(dataset).element_spec
    tensors = raw.DatasetToSingleElement(dataset=dataset._variant_tensor, **structure.attributes(spec))
    return structure.from_tensors(spec, tensors)


def to_variant(dataset):
    """The tensor that stands for a dataset.

    Args:
        dataset: The dataset.

    Returns:
        A scalar of type variant.

    Example:
        >>> tf.data.experimental.to_variant(tf.data.Dataset.range(3)).dtype
        tf.variant
    """
    return dataset._variant_tensor


def from_variant(variant, structure):
    """The dataset that a tensor stands for, given the specs of its elements.

    Args:
        variant: The tensor.
        structure: The specs of an element.

    Returns:
        A Dataset.

    Example:
        >>> dataset = tf.data.Dataset.range(3)
        >>> variant = tf.data.experimental.to_variant(dataset)
        >>> again = tf.data.experimental.from_variant(variant, tf.data.experimental.get_structure(dataset))
        >>> sess.run(tf.data.experimental.cardinality(again))
        np.int64(3)
    """
    return _VariantDataset(variant, structure)


class TFRecordWriter:
    """Writes a dataset of strings to a TFRecord file, as an op.

    Args:
        filename: The file.
        compression_type: `GZIP`, `ZLIB`, or None for none.

    Example:
        >>> dataset = tf.data.Dataset.from_tensor_slices(["a", "b"])
        >>> sess.run(tf.data.experimental.TFRecordWriter("out.tfrecord").write(dataset))
        >>> list(tf.python_io.tf_record_iterator("out.tfrecord"))
        [b'a', b'b']
    """

    def __init__(self, filename, compression_type=None):
        self._filename = convert_to_tensor(filename, dtypes.string, name="filename")
        self._compression_type = convert_to_tensor(compression_type or "", dtypes.string, name="compression_type")

    def write(self, dataset):
        """The op that writes all elements."""
        if not structure.is_scalar(_checked(dataset).element_spec, dtypes.string):
            raise TypeError(f"A record is a scalar of type string; the dataset's elements are {dataset.element_spec}")
        return raw.DatasetToTFRecord(
            input_dataset=dataset._variant_tensor, filename=self._filename, compression_type=self._compression_type
        )


INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
AUTOTUNE = -1


def TensorStructure(dtype, shape):
    """The spec of a tensor.

    Args:
        dtype: The type of the elements.
        shape: The lengths of the axes.

    Returns:
        A `tf.TensorSpec`.

    Example:
        >>> tf.data.experimental.TensorStructure(tf.int32, [2, 3])
        TensorSpec(shape=(2, 3), dtype=tf.int32, name=None)
    """
    return TensorSpec(shape, dtype)


def SparseTensorStructure(dtype, shape):
    """The spec of a sparse tensor.

    Args:
        dtype: The type of the elements.
        shape: The lengths of the axes.

    Returns:
        A `tf.SparseTensorSpec`.

    Example:
        >>> tf.data.experimental.SparseTensorStructure(tf.int32, [2, 3])
        SparseTensorSpec(TensorShape([Dimension(2), Dimension(3)]), tf.int32)
    """
    return SparseTensorSpec(shape, dtype)


def RaggedTensorStructure(dtype, shape, ragged_rank):
    """The spec of a ragged tensor.

    Args:
        dtype: The type of the elements.
        shape: The lengths of the axes.
        ragged_rank: How many dimensions are ragged.

    Returns:
        A `tf.RaggedTensorSpec`.

    Example:
        >>> tf.data.experimental.RaggedTensorStructure(tf.int32, [2, None], 1)
        RaggedTensorSpec(TensorShape([Dimension(2), Dimension(None)]), tf.int32, 1, tf.int64)
    """
    return RaggedTensorSpec(shape, dtype, ragged_rank)


def TensorArrayStructure(dtype, element_shape, dynamic_size, infer_shape):
    """The spec of a TensorArray."""
    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)
