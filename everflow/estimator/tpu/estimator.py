"""`TPUEstimator` off a TPU: an estimator that tells input and model functions the size of batches through params."""

from __future__ import annotations

import copy
import math

from everflow.estimator.arguments import check_model_fn, fn_args, named
from everflow.estimator.estimator import Estimator
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.tpu.config import ExportSavedModelApiVersion, RunConfig
from everflow.estimator.tpu.spec import TPUEstimatorSpec
from everflow.framework import dtypes
from everflow.framework.graph_keys import GraphKeys
from everflow.ops.variables import initializers
from everflow.ops.variables.scope import AUTO_REUSE, get_variable, variable_scope
from everflow.platform import logging
from everflow.platform.signatures import takes
from everflow.protos.summary_pb2 import Summary
from everflow.train.hooks import StepCounterHook
from everflow.train.session_run_hook import SessionRunHook

_RESERVED = ("batch_size", "context")


class TPUEstimator(Estimator):
    """An estimator for programs written for TPUs; here it runs with `use_tpu=False`, on a CPU or GPU.

    Args:
        model_fn: The model function.
        model_dir: The folder of checkpoints and event files.
        config: A `tf.estimator.tpu.RunConfig`.
        params: Hyperparameters, which the model function gets, with `batch_size`.
        use_tpu: Whether a TPU is used: False here.
        train_batch_size: The size of a batch for training.
        eval_batch_size: The size of a batch for evaluation.
        predict_batch_size: The size of a batch for prediction.
        batch_axis: The axis of the batch of each input.
        eval_on_tpu: Whether evaluation runs on the TPU, too.
        export_to_tpu: Whether a graph for TPUs is exported.
        export_to_cpu: Whether a graph for CPUs is exported.
        warm_start_from: A checkpoint, or `tf.estimator.WarmStartSettings`, whose values variables start with.
        embedding_config_spec: Embeddings on the TPU.
        export_saved_model_api_version: Which form of export.

    Example:
        >>> config = tf.estimator.tpu.RunConfig(model_dir="model")
        >>> estimator = tf.estimator.tpu.TPUEstimator(lambda features, labels, mode, params: None, config=config,
        ...     use_tpu=False, train_batch_size=8)
        >>> estimator.model_dir
        'model'
    """

    @takes(
        """model_fn=None, model_dir=None, config=None, params=None, use_tpu=True, train_batch_size=None,
        eval_batch_size=None, predict_batch_size=None, batch_axis=None, eval_on_tpu=True, export_to_tpu=True,
        export_to_cpu=True, warm_start_from=None, embedding_config_spec=None, export_saved_model_api_version=V1""",
        V1=ExportSavedModelApiVersion.V1,
    )
    def __init__(self, model_fn, model_dir, config, params, use_tpu, warm_start_from, **given):
        if not isinstance(config, RunConfig):
            raise ValueError("`config` must be provided with type `tpu_config.RunConfig`")
        if params is not None and any(key in params for key in _RESERVED):
            raise ValueError(f"{list(_RESERVED)} are reserved keys but existed in params {params}.")
        if model_fn is None:
            raise ValueError("model_fn must be provided to TPUEstimator.")
        check_model_fn(model_fn, params if "params" in fn_args(model_fn) else None)
        if use_tpu:
            for name in ("train_batch_size", "eval_batch_size", "predict_batch_size"):
                size = given[name]
                if (size is None and name == "train_batch_size") or (size is not None and size < 1):
                    raise ValueError(f"{name} must be a positive integer for a TPU, not {size}.")
        self._use_tpu = use_tpu
        prefixes = {ModeKeys.TRAIN: "train", ModeKeys.EVAL: "eval", ModeKeys.PREDICT: "predict"}
        self._batch_sizes = {mode: given[f"{prefix}_batch_size"] for mode, prefix in prefixes.items()}
        # The size of the batches that the model function is called for; None when it is drawn to be exported.
        self._batch_size = None
        # Speed is reported in examples; the estimator's own reports, of the loss too, are off.
        self._log_every_n_steps = config.log_step_count_steps
        quiet = copy.copy(config)
        quiet._log_step_count_steps = None
        super().__init__(self._with_batch_size(model_fn), model_dir, quiet, params, warm_start_from)

    def _create_global_step(self, graph):
        """A resource variable, which steps on a TPU need."""
        with graph.as_default(), graph.name_scope(None), variable_scope("", use_resource=True, reuse=AUTO_REUSE):
            joined = {"collections": [GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP], "trainable": False}
            zero = initializers.zeros_initializer()
            return get_variable(GraphKeys.GLOBAL_STEP, [], dtypes.int64, zero, use_resource=True, **joined)

    def _speed_hooks(self, batch_size):
        if self._log_every_n_steps is None:
            return []
        loop = self._config.tpu_config.iterations_per_loop
        every = math.ceil(self._log_every_n_steps / loop) if isinstance(loop, int) else self._log_every_n_steps
        return [_ExamplesPerSecondHook(batch_size, every_n_steps=every, output_dir=self.model_dir)]

    def _input_params(self, mode):
        if self._use_tpu:
            raise RuntimeError("There are no TPU cores here: Everflow runs TPU estimators with use_tpu=False.")
        self._batch_size = self._batch_sizes[mode]
        return {**self.params, **self._batch()}

    def _batch(self):
        return {} if self._batch_size is None else {"batch_size": self._batch_size}

    def _with_batch_size(self, model_fn):
        """The model function with the size of batches in its params, returning a plain spec."""

        def tpu_model_fn(features, labels, mode, config, params):
            if "labels" not in fn_args(model_fn) and labels is not None:
                raise ValueError(
                    "model_fn does not take labels, which input_fn gives: add the argument, or let input_fn return features only."
                )
            params = {**params, **self._batch(), "use_tpu": False}
            batch_size, self._batch_size = self._batch_size, None
            spec = model_fn(
                features=features, **named(model_fn, labels=labels, mode=mode, config=config, params=params)
            )
            if isinstance(spec, TPUEstimatorSpec):
                spec = spec.as_estimator_spec()
            if mode == ModeKeys.TRAIN:
                spec = spec._replace(training_hooks=[*self._speed_hooks(batch_size), *spec.training_hooks])
            return spec

        return tpu_model_fn


class MultiHostDatasetInitializerHook(SessionRunHook):
    """Initializes the iterators of all hosts when a session is made."""

    def __init__(self, dataset_initializers):
        self._initializers = dataset_initializers

    def after_create_session(self, session, coord):
        session.run(self._initializers)


class _ExamplesPerSecondHook(StepCounterHook):
    """Reports examples a second beside steps a second."""

    def __init__(self, batch_size, every_n_steps, output_dir):
        super().__init__(every_n_steps=every_n_steps, output_dir=output_dir)
        self._size = batch_size

    def _log_and_record(self, elapsed_steps, elapsed_time, global_step):
        super()._log_and_record(elapsed_steps, elapsed_time, global_step)
        rate = self._size * elapsed_steps / elapsed_time
        if self._summary_writer is not None:
            self._summary_writer.add_summary(
                Summary(value=[Summary.Value(tag="examples/sec", simple_value=rate)]), global_step
            )
        logging.info("examples/sec: %g", rate)


def export_estimator_savedmodel(
    estimator, export_dir_base, serving_input_receiver_fn, assets_extra=None, as_text=False, checkpoint_path=None
):
    """Export an estimator's model for serving, as its own `export_saved_model` does where there is no TPU."""
    return estimator.export_saved_model(
        export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path
    )
