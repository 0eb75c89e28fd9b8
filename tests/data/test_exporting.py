"""A dataset as a function that makes it again."""

import pytest

import everflow as tf
from everflow.data.dataset import _VariantDataset
from everflow.eager.mode import eager_mode

pytestmark = pytest.mark.usefixtures("own_graph")


def test_the_function_makes_a_dataset_like_it():
    with eager_mode():
        dataset = tf.data.Dataset.range(3).flat_map(lambda n: tf.data.Dataset.from_tensors(n * 2))
        made = dataset._trace_variant_creation()
        again = _VariantDataset(made(), dataset.element_spec)
        assert [n.numpy() for n in again] == [0, 2, 4]


def test_state_cannot_be_exported():
    with eager_mode(), pytest.raises(tf.errors.FailedPreconditionError, match="stateful"):
        tf.data.Dataset.range(3).map(lambda n: tf.random_uniform([]))._trace_variant_creation()


def test_a_dataset_of_a_graph_cannot():
    with pytest.raises(NotImplementedError, match="executing eagerly"):
        tf.data.Dataset.range(3)._trace_variant_creation()
