"""Calling a program's logit function, which heads with several outputs are built on."""

from __future__ import annotations

from everflow.estimator.arguments import named
from everflow.framework.composites import SparseTensor
from everflow.framework.operation import Tensor


def call_logit_fn(logit_fn, features, mode, params, config):
    """What `logit_fn` gives when it is called with those of features, mode, params and config that it takes."""
    result = logit_fn(**named(logit_fn, features=features, mode=mode, params=params, config=config))
    tensors = result.values() if isinstance(result, dict) else [result]
    if not all(isinstance(tensor, (Tensor, SparseTensor)) for tensor in tensors):
        raise ValueError(
            f"logit_fn should return a Tensor or a dictionary mapping strings to Tensors.  logit_fn returned: {result}"
        )
    return result
