"""What looks at rewrites of pipelines, and asks for them one by one: for those who test them."""

from __future__ import annotations

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


def model():
    """The same dataset, tuned while it runs."""
    return lambda dataset: dataset._then(raw.ModelDataset)


def non_serializable():
    """The same dataset, of which iterators can't be saved."""
    return lambda dataset: dataset._then(raw.NonSerializableDataset)


def optimize(optimizations=None):
    """The same dataset with rewrites, given by name."""

    def apply(dataset):
        names = convert_to_tensor(optimizations or [], dtypes.string, name="optimizations")
        return dataset._then(raw.OptimizeDataset, optimizations=names, optimization_configs=[])

    return apply
