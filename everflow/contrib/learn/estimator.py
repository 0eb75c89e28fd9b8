"""`Estimator` of tf.contrib.learn, over tf.estimator's: works on arrays as well as input functions."""

from __future__ import annotations

import abc
import contextlib

import numpy as np

from everflow.contrib.learn import bundle_export
from everflow.contrib.learn.input_arrays import ArrayFeeder
from everflow.contrib.learn.metric_spec import metric_ops
from everflow.contrib.learn.model_ops import ModeKeys, ModelFnOps, PredictionKey
from everflow.contrib.learn.monitors import replace_monitors_with_hooks
from everflow.contrib.learn.run_config import RunConfig
from everflow.estimator import estimator as core
from everflow.estimator.arguments import fn_args
from everflow.estimator.evaluation_results import LOSS, with_loss_metric
from everflow.estimator.export.receivers import ServingInputReceiver
from everflow.framework import nest
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Tensor
from everflow.framework.scopes import get_collection, get_default_graph
from everflow.framework.type_specs import TensorSpec
from everflow.ops.array import placeholder
from everflow.platform.signatures import optional, takes
from everflow.train.session_run_hook import SessionRunHook


class NotFittedError(ValueError, AttributeError):
    """An estimator is asked for what it knows only after `fit`."""


class Trainable(abc.ABC):
    """What can be fitted."""

    @abc.abstractmethod
    def fit(self, x=None, y=None, input_fn=None, steps=None, batch_size=None, monitors=None, max_steps=None):
        """Train, and give itself."""


_EVALUATION = optional("x y input_fn feed_fn batch_size steps metrics name checkpoint_path hooks")


class Evaluable(abc.ABC):
    """What can be evaluated."""

    @property
    @abc.abstractmethod
    def model_dir(self):
        """The folder of checkpoints."""

    @abc.abstractmethod
    @takes(_EVALUATION)
    def evaluate(self, **given):
        """The loss and the metrics."""


class _Core(core.Estimator):
    """What trains and evaluates: where a head measures the loss by itself, that is the loss which is told."""

    def _evaluated(self, spec):
        told = {LOSS: spec.eval_metric_ops[LOSS]} if LOSS in spec.eval_metric_ops else {}
        others = {name: metric for name, metric in spec.eval_metric_ops.items() if name not in told}
        return {**with_loss_metric(others, spec.loss), **told}


class BaseEstimator(Trainable, Evaluable):
    """What estimators have in common. Subclasses say how a model is drawn, in `_draw`."""

    _feature_engineering_fn = None

    def __init__(self, model_dir=None, config=None):
        self._config = config or RunConfig()
        self._metrics = None
        self._labels_seen = self._features_seen = None
        self._core = _Core(self._spec, model_dir=model_dir, config=self._config)
        if self._config.session_config is None and isinstance(self._config, RunConfig):
            self._core._session_config = self._config.tf_config

    config = property(lambda self: self._core.config)
    model_dir = property(lambda self: self._core.model_dir)

    @property
    def model_fn(self):
        """The model function, as `fn(features, labels, mode, config)`."""
        return self._model_ops

    def _model_ops(self, features, labels, mode, config):
        if self._feature_engineering_fn is not None:
            features, labels = self._feature_engineering_fn(features, labels)
        return self._draw(features, labels, mode, config)

    def _spec(self, features, labels, mode, config):
        # Model functions of that time made a loss in any mode: they get placeholders like the labels of `fit`.
        if mode != ModeKeys.INFER:
            self._labels_seen = nest.map_structure(_spec_of, labels)
            self._features_seen = nest.map_structure(_spec_of, features)
        elif labels is None:
            labels = nest.map_structure(_placeholder_like, self._labels_seen)
        ops = self._model_ops(features, labels, mode, config)
        if mode == ModeKeys.EVAL:
            extra = metric_ops(self._metrics, features, labels, ops.predictions)
            ops = ops._replace(eval_metric_ops={**(ops.eval_metric_ops or {}), **extra})
        return ops.estimator_spec()._replace(eval_metric_ops=ops.eval_metric_ops or {})

    # --- fitting

    def fit(self, x=None, y=None, input_fn=None, steps=None, batch_size=None, monitors=None, max_steps=None):
        """Train for `steps` more steps, or up to step `max_steps`; gives itself."""
        if steps is not None and max_steps is not None:
            raise ValueError(f"steps={steps} counts from here, max_steps={max_steps} from the start: give one of them")
        _check_inputs(x, y, input_fn, batch_size)
        if max_steps is not None and self._has_reached(max_steps):
            return self
        input_fn, feeders = _input(x, y, input_fn, batch_size, shuffle=True, epochs=None)
        self._core.train(input_fn, [*_hooks(monitors, self), *feeders], steps=steps, max_steps=max_steps)
        return self

    def _has_reached(self, max_steps):
        with contextlib.suppress(ValueError):  # no checkpoint: nothing was trained yet
            return int(self._core.get_variable_value("global_step")) >= max_steps
        return False

    def partial_fit(self, x=None, y=None, input_fn=None, steps=1, batch_size=None, monitors=None):
        """Train for a few steps on a part of the data; gives itself."""
        return self.fit(x, y, input_fn, steps, batch_size, monitors)

    # --- evaluating and predicting

    @takes(_EVALUATION)
    def evaluate(self, x=None, y=None, input_fn=None, *, log_progress=True, **given):
        """The loss and the metrics of the newest model: {name: value}; more metrics may be asked for."""
        batch_size, metrics, checkpoint_path = given["batch_size"], given["metrics"], given["checkpoint_path"]
        _check_inputs(x, y, input_fn, batch_size)
        if given["feed_fn"] is not None:
            raise ValueError("Can not provide feed_fn: give the data as x and y or by an input_fn.")
        if metrics is not None and not isinstance(metrics, dict):
            raise ValueError(f"metrics should be a dict, {{name: MetricSpec}}, not {metrics}")
        self._require_checkpoint(checkpoint_path)
        self._metrics = metrics
        input_fn, feeders = _input(x, y, input_fn, batch_size)
        hooks = [*(given["hooks"] or []), *feeders]
        try:
            return self._core.evaluate(input_fn, given["steps"], hooks, checkpoint_path, given["name"])
        finally:
            self._metrics = None

    def predict(self, x=None, input_fn=None, batch_size=None, outputs=None, as_iterable=True, iterate_batches=False):
        """Predictions, one example at a time, or as arrays of all; `outputs` picks some of them."""
        _check_inputs(x, None, input_fn, batch_size)
        self._require_checkpoint(None)
        input_fn, feeders = _input(x, None, input_fn, batch_size)
        hooks = feeders or [_StopAfterConstants()]
        made = self._core.predict(input_fn, outputs, hooks, yield_single_examples=False)
        batches = (_plain(batch) for batch in made)
        if not as_iterable:
            return _joined(list(batches))
        return batches if iterate_batches else _examples(batches)

    def _require_checkpoint(self, checkpoint_path):
        if checkpoint_path is None and self._core.latest_checkpoint() is None:
            raise NotFittedError(f"Couldn't find trained model at {self.model_dir}.")

    # --- exporting

    def export(
        self,
        export_dir,
        input_fn=bundle_export._default_input_fn,
        input_feature_key=None,
        use_deprecated_input_fn=True,
        signature_fn=None,
        prediction_key=None,
        default_batch_size=1,
        exports_to_keep=None,
        checkpoint_path=None,
    ):
        """Write the newest model as a session bundle into a folder of the step's number; gives its path as bytes.

        Args:
            export_dir: The folder of all exports.
            input_fn: `fn(estimator, examples)` with features; unless `use_deprecated_input_fn`, `fn()` with features and
                labels.
            input_feature_key: The feature that serialized Examples are fed to.
            use_deprecated_input_fn: Whether `input_fn` takes the estimator and a tensor of serialized Examples.
            signature_fn: `fn(examples, features, predictions)` with the signature, and others by name.
            prediction_key: Which of the predictions is answered; all by default.
            default_batch_size: The size of the batch of Examples, where a placeholder is made for them.
            exports_to_keep: How many exports stay; all by default.
            checkpoint_path: The checkpoint; the newest by default.
        """
        return bundle_export.export_bundle(
            self,
            export_dir,
            signature_fn=signature_fn,
            input_fn=input_fn,
            default_batch_size=default_batch_size,
            exports_to_keep=exports_to_keep,
            input_feature_key=input_feature_key,
            use_deprecated_input_fn=use_deprecated_input_fn,
            prediction_key=prediction_key,
            checkpoint_path=checkpoint_path,
        )

    def _predictions_of(self, features):
        """The predictions of features, drawn into the default graph."""
        labels = nest.map_structure(_placeholder_like, self._labels_seen)
        return self._model_ops(features, labels, ModeKeys.INFER, self.config).predictions

    def export_savedmodel(
        self,
        export_dir_base,
        serving_input_fn,
        default_output_alternative_key=None,
        assets_extra=None,
        as_text=False,
        checkpoint_path=None,
        graph_rewrite_specs=((("serve",), ()),),
        strip_default_attrs=False,
    ):
        """Write the newest model as a SavedModel into a folder of its own; gives the folder's path as bytes."""
        if len(graph_rewrite_specs) != 1 or graph_rewrite_specs[0][1]:
            raise ValueError("graph_rewrite_specs are not supported: `tf.tools.graph_transforms` rewrites graphs.")
        self._require_checkpoint(checkpoint_path)

        def receiver():
            made = serving_input_fn()
            return ServingInputReceiver(made.features, made.default_inputs)

        options = assets_extra, as_text, checkpoint_path, strip_default_attrs
        return self._core.export_savedmodel(export_dir_base, receiver, *options)

    # --- what it has learnt

    def get_variable_names(self):
        """The names of all variables in the newest checkpoint."""
        return self._core.get_variable_names()

    def get_variable_value(self, name):
        """The value of a variable in the newest checkpoint."""
        return self._core.get_variable_value(name)

    def get_params(self, deep=True):
        """The arguments it was made with, as scikit-learn asks for them."""
        return {key: value for key, value in vars(self).items() if not key.startswith("_")}

    def set_params(self, **params):
        """Give it other arguments, as scikit-learn does."""
        for key, value in params.items():
            if key not in self.get_params():
                raise ValueError(f"Invalid parameter {key} for estimator {type(self).__name__}")
            setattr(self, key, value)
        return self


class Estimator(BaseEstimator):
    """A model drawn by `model_fn(features, labels, mode, params, config, model_dir)`, which may have fewer arguments.

    The function returns a `ModelFnOps`, or predictions, loss and train op.
    """

    def __init__(self, model_fn=None, model_dir=None, config=None, params=None, feature_engineering_fn=None):
        if model_fn is not None and params is not None and "params" not in fn_args(model_fn):
            raise ValueError(f"The model_fn {model_fn} would not see params={params}: it has no argument `params`")
        self._user_model_fn = model_fn
        self._feature_engineering_fn = feature_engineering_fn
        self.params = params
        super().__init__(model_dir=model_dir, config=config)

    def _draw(self, features, labels, mode, config):
        given = {"mode": mode, "params": self.params, "config": config, "model_dir": self.model_dir}
        names = fn_args(self._user_model_fn)
        made = self._user_model_fn(features, labels, **{key: value for key, value in given.items() if key in names})
        if isinstance(made, ModelFnOps):
            return made
        if not (isinstance(made, (list, tuple)) and len(made) == 3):
            raise ValueError(f"model_fn should return ModelFnOps, or predictions, loss and train op, not {made}")
        return ModelFnOps(mode, *made)


def _spec_of(tensor):
    return TensorSpec(tensor.shape, tensor.dtype.base_dtype) if isinstance(tensor, Tensor) else None


def _placeholder_like(spec):
    return None if spec is None else placeholder(spec.dtype, spec.shape)


def _check_inputs(x, y, input_fn, batch_size):
    if input_fn is None:
        if x is None:
            raise ValueError("There is no data: give x or an input_fn")
    elif x is not None or y is not None:
        raise ValueError("The data come from input_fn or from x and y: give one of them")
    elif batch_size is not None:
        raise ValueError(f"An input_fn makes its own batches, so batch_size={batch_size} can't be given with it")


def _input(x, y, input_fn, batch_size, **options):
    """(an input function, the hooks that feed it): the one given, or one of the arrays."""
    if input_fn is not None:
        return input_fn, []
    feeder = ArrayFeeder(x, y, batch_size, **options)
    return feeder.input_fn, [feeder]


def _hooks(monitors, estimator):
    """Monitors and hooks, one or a list, as hooks."""
    given = list(monitors) if isinstance(monitors, (list, tuple)) else [monitors] if monitors is not None else []
    return replace_monitors_with_hooks(given, estimator)


class _StopAfterConstants(SessionRunHook):
    """Ends predicting after one batch, where the input gives the same forever: no queue or dataset feeds it."""

    def begin(self):
        fed = any(op.type == "IteratorGetNext" for op in get_default_graph().get_operations())
        self._constant = not fed and not get_collection(GraphKeys.QUEUE_RUNNERS)

    def after_run(self, run_context, run_values):
        if self._constant:
            run_context.request_stop()


def _plain(batch):
    """A model that predicts one tensor gives arrays rather than dicts."""
    return batch[PredictionKey.GENERIC] if isinstance(batch, dict) and list(batch) == [PredictionKey.GENERIC] else batch


def _examples(batches):
    for batch in batches:
        if isinstance(batch, dict):
            for i in range(len(next(iter(batch.values())))):
                yield {key: value[i] for key, value in batch.items()}
        else:
            yield from batch


def _joined(batches):
    if batches and isinstance(batches[0], dict):
        return {key: np.concatenate([batch[key] for batch in batches]) for key in batches[0]}
    return np.concatenate(batches)


class SKCompat:
    """An estimator with the interface of scikit-learn: `fit(x, y)`, `predict(x)` and `score(x, y)` with arrays."""

    def __init__(self, estimator):
        self._estimator = estimator

    def fit(self, x, y, batch_size=128, steps=None, max_steps=None, monitors=None):
        """Train; gives itself."""
        self._estimator.fit(x=x, y=y, batch_size=batch_size, steps=steps, max_steps=max_steps, monitors=monitors)
        return self

    def score(self, x, y, batch_size=128, steps=None, metrics=None, name=None):
        """The loss and the metrics: {name: value}."""
        result = self._estimator.evaluate(x=x, y=y, batch_size=batch_size, steps=steps, metrics=metrics, name=name)
        return dict(result)

    def predict(self, x, batch_size=128, outputs=None):
        """Predictions as arrays."""
        return BaseEstimator.predict(self._estimator, x=x, batch_size=batch_size, outputs=outputs, as_iterable=False)

    def get_params(self, deep=True):
        """The estimator's arguments."""
        return self._estimator.get_params(deep)

    def set_params(self, **params):
        """Give the estimator other arguments."""
        self._estimator.set_params(**params)
        return self
