"""Estimators that hand features on to their predictions, and optimizers that clip what they apply."""

from __future__ import annotations

from everflow.contrib.opt.wrapping import WrappingOptimizer
from everflow.estimator.estimator import Estimator
from everflow.estimator.export.outputs import PredictOutput
from everflow.estimator.mode_keys import ModeKeys
from everflow.framework.composites import SparseTensor
from everflow.framework.operation import Tensor
from everflow.ops.math.clip import clip_by_global_norm
from everflow.ops.sparse.functions import sparse_tensor_to_dense


def clip_gradients_by_norm(optimizer, clip_norm):
    """An optimizer that scales gradients down where their common norm exceeds `clip_norm`."""

    def clip(grads_and_vars):
        gradients, variables = zip(*grads_and_vars, strict=True)
        clipped, _ = clip_by_global_norm(gradients, clip_norm)
        return list(zip(clipped, variables, strict=True))

    return TransformGradients(optimizer, clip, name="ClipByNorm" + optimizer.get_name())


class TransformGradients(WrappingOptimizer):
    """An optimizer that changes gradients before another one applies them."""

    def __init__(self, optimizer, transform, name):
        super().__init__(optimizer, use_locking=False, name=name)
        self._transform = transform

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """Apply the transformed gradients."""
        return self._opt.apply_gradients(self._transform(grads_and_vars), global_step, name)


def forward_features(estimator, keys=None, sparse_default_values=None):
    """An estimator whose predictions have features among them, all or those in `keys`, such as the ids of examples.

    >>> estimator = tf.contrib.estimator.forward_features(estimator, "id")
    """
    if isinstance(keys, str):
        keys = [keys]
    elif isinstance(keys, list):
        for key in keys:
            if not isinstance(key, str):
                raise TypeError(
                    f"All items in the given keys list should be a string. There exist an item with type: {type(key)}"
                )
    elif keys is not None:
        raise TypeError(f"keys should be either a string or a list of strings. Given: {type(keys)}")

    def model_fn(features, labels, mode, config):
        spec = estimator.model_fn(features, labels, mode, config)
        predictions = spec.predictions
        if mode != ModeKeys.PREDICT or predictions is None:
            return spec
        if not isinstance(predictions, dict):
            raise ValueError(f"Predictions should be a dict to be able to forward features. Given: {type(predictions)}")
        forwarded = {key: _feature(features, key, predictions, sparse_default_values or {}) for key in keys or features}
        outputs = {
            key: PredictOutput({**output.outputs, **forwarded}) if isinstance(output, PredictOutput) else output
            for key, output in spec.export_outputs.items()
        }
        return spec._replace(predictions={**predictions, **forwarded}, export_outputs=outputs)

    return Estimator(model_fn=model_fn, model_dir=estimator.model_dir, config=estimator.config)


def _feature(features, key, predictions, sparse_default_values):
    if key not in features:
        raise ValueError(
            f'keys should be exist in features. Key "{key}" is not in features dict. features dict has following keys: {list(features)}.'
        )
    if key in predictions:
        raise ValueError(
            f"Cannot forward feature key ({key}). Since it does exist in predictions. Existing prediction keys: {list(predictions)}."
        )
    feature = features[key]
    if isinstance(feature, SparseTensor) and key in sparse_default_values:
        feature = sparse_tensor_to_dense(feature, default_value=sparse_default_values[key])
    if not isinstance(feature, Tensor):
        raise ValueError(
            f"Feature ({key}) should be a Tensor. Please use `keys` argument of forward_features to filter unwanted features, or add key "
            f"to argument `sparse_default_values`. Type of features[{key}] is {type(feature)}."
        )
    return feature
