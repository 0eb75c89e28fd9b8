"""Functions of tf.data that do what methods of datasets and iterators do."""

from __future__ import annotations

from everflow.data.structure import Elements


def _elements(dataset_or_iterator):
    if not isinstance(dataset_or_iterator, Elements):
        raise TypeError(f"`dataset_or_iterator` is neither a dataset nor an iterator: {dataset_or_iterator!r}")
    return dataset_or_iterator


def get_output_types(dataset_or_iterator):
    """The nest of dtypes of the elements.

    Args:
        dataset_or_iterator: A dataset or iterator.

    Returns:
        A type, or a structure of types.

    Example:
        >>> tf.data.get_output_types(tf.data.Dataset.range(3))
        tf.int64
    """
    return _elements(dataset_or_iterator).output_types


def get_output_shapes(dataset_or_iterator):
    """The nest of static shapes of the elements.

    Args:
        dataset_or_iterator: A dataset or iterator.

    Returns:
        A shape, or a structure of shapes.

    Example:
        >>> tf.data.get_output_shapes(tf.data.Dataset.range(3).batch(2)).as_list()
        [None]
    """
    return _elements(dataset_or_iterator).output_shapes


def get_output_classes(dataset_or_iterator):
    """The nest of classes of the elements.

    Args:
        dataset_or_iterator: A dataset or iterator.

    Returns:
        A class, or a structure of classes.

    Example:
        >>> tf.data.get_output_classes(tf.data.Dataset.range(3)).__name__
        'Tensor'
    """
    return _elements(dataset_or_iterator).output_classes


def get_structure(dataset_or_iterator):
    """The nest of specs of the elements.

    Args:
        dataset_or_iterator: A dataset or iterator.

    Returns:
        A spec, or a structure of specs.

    Example:
        >>> tf.data.experimental.get_structure(tf.data.Dataset.range(3))
        TensorSpec(shape=(), dtype=tf.int64, name=None)
    """
    return dataset_or_iterator.element_spec


def make_one_shot_iterator(dataset):
    """An iterator over a dataset, once, that needs no initialisation.

    Args:
        dataset: The dataset.

    Returns:
        An iterator.

    Example:
        >>> sess.run(tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next())
        np.int64(0)
    """
    return dataset.make_one_shot_iterator()


def make_initializable_iterator(dataset, shared_name=None):
    """An iterator over a dataset that is initialised by running its `initializer`.

    Args:
        dataset: The dataset.
        shared_name: The name under which other sessions of the same server find it, too.

    Returns:
        An iterator.

    Raises:
        RuntimeError: When executing eagerly.

    Example:
        >>> iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(3))
        >>> element = iterator.get_next()
        >>> sess.run(iterator.initializer)
        >>> sess.run(element)
        np.int64(0)
    """
    return dataset.make_initializable_iterator(shared_name)
