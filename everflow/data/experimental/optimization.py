"""What looks at rewrites of pipelines, and asks for them one by one: for those who test them."""

from __future__ import annotations

from everflow.data import structure
from everflow.data.dataset import DatasetSpec, DatasetV1Adapter
from everflow.data.functions import StructuredFunction
from everflow.framework import dtypes
from everflow.framework import raw_ops as raw
from everflow.framework.conversion import convert_to_tensor


def assert_next(transformations):
    """The same dataset; an iterator over what is made of it starts only if that are datasets of these names.

    >>> dataset.apply(assert_next(["MapAndBatch"])).map(parse).batch(32)
    """

    def apply(dataset):
        names = convert_to_tensor(transformations, dtypes.string, name="transformations")
        return dataset._then(raw.AssertNextDataset, transformations=names)

    return apply


def non_serializable():
    """The same dataset, of which iterators can't be saved."""
    return lambda dataset: dataset._then(raw.NonSerializableDataset)


def optimize(optimizations=None):
    """The same dataset with rewrites, given by name."""

    def apply(dataset):
        names = convert_to_tensor(optimizations or [], dtypes.string, name="optimizations")
        return dataset._then(raw.OptimizeDataset, optimizations=names, optimization_configs=[])

    return apply


class _ChooseFastestDataset(DatasetV1Adapter):
    """Of several datasets with the same elements, the one that turns out to be fastest."""

    def __init__(self, datasets, num_experiments=10):
        datasets = list(datasets)
        spec = datasets[0].element_spec
        variant = raw.ChooseFastestDataset(
            input_datasets=[d._variant_tensor for d in datasets],
            num_experiments=num_experiments,
            **structure.attributes(spec),
        )
        self._begin(variant, spec, datasets)


class _ChooseFastestBranchDataset(DatasetV1Adapter):
    """What one of several functions makes of a dataset: of that which turns out to be fastest."""

    def __init__(self, input_dataset, functions, ratio_numerator=1, ratio_denominator=1, num_elements_per_branch=None):
        drawn = [
            StructuredFunction(function, "ChooseFastest", DatasetSpec(input_dataset.element_spec))
            for function in functions
        ]
        spec = drawn[0].output_structure.element_spec
        variant = raw.ChooseFastestBranchDataset(
            input_dataset=input_dataset._variant_tensor,
            ratio_numerator=ratio_numerator,
            ratio_denominator=ratio_denominator,
            other_arguments=[t for f in drawn for t in f.captured_inputs],
            num_elements_per_branch=10 if num_elements_per_branch is None else num_elements_per_branch,
            branches=[f.attr for f in drawn],
            other_arguments_lengths=[len(f.captured_inputs) for f in drawn],
            **structure.attributes(spec),
        )
        self._begin(variant, spec, [input_dataset])
