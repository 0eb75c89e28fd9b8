"""`TPUEstimator` off a TPU: an estimator that tells input and model functions the size of batches through params."""

from __future__ import annotations

from everflow.estimator.arguments import check_model_fn, fn_args, named
from everflow.estimator.estimator import Estimator
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.tpu.config import RunConfig
from everflow.estimator.tpu.spec import TPUEstimatorSpec

_RESERVED = ("batch_size", "context")


class TPUEstimator(Estimator):
    """An estimator for programs written for TPUs; here it runs with `use_tpu=False`, on a CPU or GPU.

    >>> estimator = tf.estimator.tpu.TPUEstimator(model_fn, config=tf.estimator.tpu.RunConfig(), use_tpu=False, train_batch_size=32)
    """

    def __init__(
        self,
        model_fn=None,
        model_dir=None,
        config=None,
        params=None,
        use_tpu=True,
        train_batch_size=None,
        eval_batch_size=None,
        predict_batch_size=None,
        batch_axis=None,
        eval_on_tpu=True,
        export_to_tpu=True,
        export_to_cpu=True,
        warm_start_from=None,
        embedding_config_spec=None,
        export_saved_model_api_version=None,
    ):
        if not isinstance(config, RunConfig):
            raise ValueError("`config` must be provided with type `tpu_config.RunConfig`")
        if params is not None and any(key in params for key in _RESERVED):
            raise ValueError(f"{list(_RESERVED)} are reserved keys but existed in params {params}.")
        if model_fn is None:
            raise ValueError("model_fn must be provided to TPUEstimator.")
        check_model_fn(model_fn, params if "params" in fn_args(model_fn) else None)
        self._use_tpu = use_tpu
        self._batch_sizes = {
            ModeKeys.TRAIN: train_batch_size,
            ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }
        # The size of the batches that the model function is called for; None when it is drawn to be exported.
        self._batch_size = None
        super().__init__(
            model_fn=self._with_batch_size(model_fn), model_dir=model_dir, config=config, params=params, warm_start_from=warm_start_from
        )

    def _input_params(self, mode):
        if self._use_tpu:
            raise RuntimeError("Cannot find any TPU cores in the system: Everflow runs TPU estimators with use_tpu=False.")
        self._batch_size = self._batch_sizes[mode]
        return {**self.params, **self._batch()}

    def _batch(self):
        return {} if self._batch_size is None else {"batch_size": self._batch_size}

    def _with_batch_size(self, model_fn):
        """The model function with the size of batches in its params, returning a plain spec."""

        def tpu_model_fn(features, labels, mode, config, params):
            if "labels" not in fn_args(model_fn) and labels is not None:
                raise ValueError("model_fn does not take labels, but input_fn returns labels.")
            params = {**params, **self._batch(), "use_tpu": False}
            self._batch_size = None
            spec = model_fn(features=features, **named(model_fn, labels=labels, mode=mode, config=config, params=params))
            return spec.as_estimator_spec() if isinstance(spec, TPUEstimatorSpec) else spec

        return tpu_model_fn
