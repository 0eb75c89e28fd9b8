"""What tf.contrib.training has inside of its module `sampling_ops`."""

from __future__ import annotations

from everflow.contrib.training.stratified import _acceptance, _checked, _estimated_proportions
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.shapes import Dimension

__all__ = ["_calculate_acceptance_probabilities", "_estimate_data_distribution", "_verify_input"]

_calculate_acceptance_probabilities = _acceptance


def _estimate_data_distribution(labels, num_classes, smoothing_constant=10):
    """The shares of classes among the labels seen so far."""
    return _estimated_proportions(labels, num_classes)


def _verify_input(tensor_list, labels, probs_list):
    """(tensors, labels, lists of probabilities), once they fit together."""
    tensors = [convert_to_tensor(tensor) for tensor in tensor_list]
    sizes = [Dimension(probs.shape.with_rank(1).size(0)) for probs in probs_list]
    for size in sizes[1:]:
        size.assert_is_compatible_with(sizes[0])
    for tensor in [*tensors, labels]:
        tensor.shape.with_rank_at_least(1)[:1].assert_is_compatible_with(labels.shape.with_rank(1))
    tensors, labels, first, last = _checked(tensors, labels, probs_list[0], probs_list[-1])
    return tensors, labels, [first] if len(probs_list) == 1 else [first, last]
