"""Datasets that come from nothing: counters and random numbers; and datasets chosen from several."""

from __future__ import annotations

from everflow.data import structure
from everflow.data.dataset import Dataset, VariantDataset, made
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
    """The numbers from `start` on, by `step`, for ever."""
    with name_scope("counter"):
        start = convert_to_tensor(start, dtype=dtype, name="start")
        step = convert_to_tensor(step, dtype=dtype, name="step")
        return Dataset.from_tensors(0).repeat(None).apply(scan(start, lambda state, _: (state + step, state)))


class RandomDatasetV1(Dataset):
    """Random int64 numbers, for ever."""

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
    """Elements of several datasets in the order that a dataset of int64 numbers says."""
    if not structure.is_scalar(choice_dataset.element_spec, dtypes.int64):
        raise TypeError(f"`choice_dataset` must have int64 scalars as elements, not {choice_dataset.element_spec}")
    return _directed(choice_dataset, datasets)


def sample_from_datasets(datasets, weights=None, seed=None):
    """Elements of several datasets in a random order, by weights."""
    if weights is None:
        weights = [1.0 / len(datasets)] * len(datasets)
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

    def select_dataset_constant_logits(seed):
        return array.squeeze(_multinomial(logits, seed), axis=[0, 1])

    chosen = RandomDatasetV1(seed).batch(2).map(select_dataset_constant_logits)
    return _directed(chosen, datasets)


def _multinomial(logits, seed) -> Tensor:
    return raw.StatelessMultinomial(logits=logits, num_samples=1, seed=seed)


def _drawn_by(weights, seed):
    """Indices drawn by weights that change from element to element."""
    logits = weights.map(lambda *p: math.log(p, name="logits"))

    def select_dataset_varying_logits(logits, seed):
        return array.squeeze(_multinomial(logits, seed), axis=[0, 1])

    pairs = Dataset.zip((logits, RandomDatasetV1(seed).batch(2)))
    return pairs.map(select_dataset_varying_logits)


def cardinality(dataset):
    """How many elements a dataset has, as an int64 tensor: INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, or a number."""
    return raw.DatasetCardinality(input_dataset=dataset._variant_tensor)


def _checked(dataset):
    if not isinstance(dataset, Dataset):
        raise TypeError(f"`dataset` must be a tf.data.Dataset, not {dataset!r}")
    return dataset


def get_single_element(dataset):
    """The only element of a dataset, without an iterator."""
    spec = _checked(dataset).element_spec
    tensors = raw.DatasetToSingleElement(dataset=dataset._variant_tensor, **structure.attributes(spec))
    return structure.from_tensors(spec, tensors)


def to_variant(dataset):
    """The tensor that stands for a dataset."""
    return dataset._variant_tensor


def from_variant(variant, structure):
    """The dataset that a tensor stands for, given the specs of its elements."""
    return VariantDataset(variant, structure)


class TFRecordWriter:
    """Writes a dataset of strings to a TFRecord file, as an op.

    >>> sess.run(tf.data.experimental.TFRecordWriter("out.tfrecord").write(dataset))
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
    """The spec of a tensor."""
    return TensorSpec(shape, dtype)


def SparseTensorStructure(dtype, shape):
    """The spec of a sparse tensor."""
    return SparseTensorSpec(shape, dtype)


def RaggedTensorStructure(dtype, shape, ragged_rank):
    """The spec of a ragged tensor."""
    return RaggedTensorSpec(shape, dtype, ragged_rank)


def TensorArrayStructure(dtype, element_shape, dynamic_size, infer_shape):
    """The spec of a TensorArray."""
    return TensorArraySpec(element_shape, dtype, dynamic_size, infer_shape)
