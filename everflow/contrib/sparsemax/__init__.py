"""tf.contrib.sparsemax: softmax's sparse sibling, the projection of logits onto the probability simplex, and its loss."""

from everflow.contrib.sparsemax.projection import sparsemax, sparsemax_loss

__all__ = ["sparsemax", "sparsemax_loss"]
