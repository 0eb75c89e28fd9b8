"""Datasets divided among workers and replicas."""

from __future__ import annotations

from everflow.data import structure
from everflow.data.dataset import Dataset, DatasetV1Adapter
from everflow.framework import raw_ops as raw
from everflow.framework.composites import SparseTensorSpec
from everflow.framework.scopes import device, executing_eagerly
from everflow.framework.shapes import TensorShape
from everflow.framework.type_specs import TensorSpec


class _AutoShardDataset(DatasetV1Adapter):
    """A worker's part of a dataset: some of the files where it is seen which are read, else some elements."""

    def __init__(self, input_dataset, num_workers, index):
        spec = input_dataset.element_spec
        variant = raw.AutoShardDataset(
            input_dataset=input_dataset._variant_tensor,
            num_workers=num_workers,
            index=index,
            **structure.attributes(spec),
        )
        self._begin(variant, spec, [input_dataset])


def _AutoShardDatasetV1(input_dataset, num_workers, index):
    made = _AutoShardDataset(input_dataset, num_workers, index)
    return DatasetV1Adapter(made)


def _part_of_batch(spec, replicas):
    """The spec of a replica's part of a batch."""
    shape = spec.shape
    if shape.rank is None:
        return spec
    if shape.rank == 0:
        raise ValueError("Batches have a first dimension, along which they are divided; this dataset has scalars")
    size = shape.as_list()[0]
    parted = TensorShape([size // replicas if size is not None and size % replicas == 0 else None]).concatenate(
        shape[1:]
    )
    return type(spec)(parted, spec.dtype)


class _RebatchDataset(DatasetV1Adapter):
    """Each batch as so many smaller ones as there are replicas."""

    def __init__(self, input_dataset, num_replicas, use_fallback=True):
        def parted(spec):
            return _part_of_batch(spec, num_replicas) if isinstance(spec, (TensorSpec, SparseTensorSpec)) else spec

        spec = structure.map_nest(parted, input_dataset.element_spec)
        variant = raw.RebatchDataset(
            input_dataset=input_dataset._variant_tensor,
            num_replicas=num_replicas,
            use_fallback=use_fallback,
            **structure.attributes(spec),
        )
        self._begin(variant, spec, [input_dataset])


# --- datasets on other devices -------------------------------------------------------------------


class _RemoteDataset(DatasetV1Adapter):
    """A dataset that is made again on another device, of the graph of the one that is there already."""

    def __init__(self, graph_def, device_name, element_spec):
        with device(device_name):
            variant = raw.DatasetFromGraph(graph_def=graph_def)
        self._begin(variant, element_spec)


def replicate(dataset, devices):
    """The dataset on each of some devices, by their names; where it is there already, it is the dataset itself."""
    if not isinstance(dataset, Dataset):
        raise TypeError(f"Pass a tf.data.Dataset to replicate, not {dataset!r}")
    there = "" if executing_eagerly() else dataset._variant_tensor.device
    datasets = {name: dataset for name in devices if name == there}
    remote = [name for name in devices if name not in datasets]
    if remote:
        with device(there or None):
            graph_def = dataset._as_serialized_graph(dataset.options().experimental_stateful_whitelist)
        for name in remote:
            datasets[name] = _RemoteDataset(graph_def, name, dataset.element_spec)
    return datasets
