"""Calling a program's logit function, which heads with several outputs are built on."""

from __future__ import annotations

from everflow.estimator.arguments import named
from everflow.framework.composites import SparseTensor
from everflow.framework.operation import Tensor


def call_logit_fn(logit_fn, features, mode, params, config):
    """What `logit_fn` gives when it is called with those of features, mode, params and config that it takes.

    Args:
        logit_fn: The function.
        features: The features, by name.
        mode: A value of `tf.estimator.ModeKeys`.
        params: Hyperparameters.
        config: A `tf.estimator.RunConfig`: where and how to run.

    Returns:
        Logits.

    Raises:
        ValueError: If it returns something else.

    Example:
        >>> tf.estimator.experimental.call_logit_fn(lambda features: features["x"], {"x": tf.ones([2])}, "train", {}, None).shape
        TensorShape([Dimension(2)])
    """
    result = logit_fn(**named(logit_fn, features=features, mode=mode, params=params, config=config))
    tensors = result.values() if isinstance(result, dict) else [result]
    if not all(isinstance(tensor, (Tensor, SparseTensor)) for tensor in tensors):
        raise ValueError(
            f"logit_fn should return a Tensor or a dictionary mapping strings to Tensors.  logit_fn returned: {result}"
        )
    return result
