"""Functions of tf.data that do what methods of datasets and iterators do."""

from __future__ import annotations


def get_output_types(dataset_or_iterator):
    """The nest of dtypes of the elements."""
    return dataset_or_iterator.output_types


def get_output_shapes(dataset_or_iterator):
    """The nest of static shapes of the elements."""
    return dataset_or_iterator.output_shapes


def get_output_classes(dataset_or_iterator):
    """The nest of classes of the elements."""
    return dataset_or_iterator.output_classes


def get_structure(dataset_or_iterator):
    """The nest of specs of the elements."""
    return dataset_or_iterator.element_spec


def make_one_shot_iterator(dataset):
    """An iterator over a dataset, once, that needs no initialisation."""
    return dataset.make_one_shot_iterator()


def make_initializable_iterator(dataset, shared_name=None):
    """An iterator over a dataset that is initialised by running its `initializer`."""
    return dataset.make_initializable_iterator(shared_name)
