"""`Estimator`: trains, evaluates and predicts with a model function, in a new graph each time, through checkpoints."""

from __future__ import annotations

import copy
import os
import tempfile

from everflow.estimator import saved_model_export
from everflow.estimator.arguments import check_model_fn, fn_args, named
from everflow.estimator.distribution import distributed_train_spec
from everflow.estimator.evaluation_results import (
    GLOBAL_STEP,
    values_and_update,
    with_loss_metric,
    write_checkpoint_path,
    write_results,
)
from everflow.estimator.input_functions import parse_input_fn_result
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.run_config import RunConfig, TaskType, default_session_config
from everflow.estimator.spec import EstimatorSpec, check_hooks
from everflow.estimator.warm_start_settings import as_warm_start_settings
from everflow.framework import nest, strategy_context
from everflow.framework.errors import NotFoundError
from everflow.framework.graph import Graph
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import add_to_collection, device, get_collection, get_default_graph
from everflow.framework.seeds import set_random_seed
from everflow.ops.io import summaries
from everflow.ops.variables.global_step import _get_or_create_global_step_read, create_global_step, get_global_step
from everflow.platform import logging
from everflow.platform.progress import Work
from everflow.platform.signatures import takes
from everflow.train import replica_device_setter
from everflow.train.checkpoint_reader import list_variables, load_checkpoint, load_variable
from everflow.train.checkpoint_state import latest_checkpoint
from everflow.train.evaluation import StopAfterNEvalsHook, evaluate_once
from everflow.train.hooks import (
    CheckpointSaverHook,
    CheckpointSaverListener,
    LoggingTensorHook,
    NanTensorHook,
    StopAtStepHook,
)
from everflow.train.monitored_session import ChiefSessionCreator, MonitoredSession, MonitoredTrainingSession
from everflow.train.saver import Saver
from everflow.train.session_run_hook import SessionRunHook
from everflow.train.warm_starting import warm_start

# Ops that hold state: in a cluster they live on parameter servers.
_STATE_OPS = """
    Variable VariableV2 AutoReloadVariable VarHandleOp ResourceConditionalAccumulator
    MutableHashTable MutableHashTableV2 MutableHashTableOfTensors MutableHashTableOfTensorsV2
    MutableDenseHashTable MutableDenseHashTableV2
    BoostedTreesEnsembleResourceHandleOp BoostedTreesQuantileStreamResourceHandleOp
""".split()

_EXPORT_OPTIONS = "assets_extra=None, as_text=False, checkpoint_path=None"


class Estimator:
    """A model that trains, evaluates, predicts and exports itself.

    `model_fn(features, labels, mode, params, config)` (it may have fewer of these arguments) draws the model and returns a
    `tf.estimator.EstimatorSpec`. Each call draws it anew, in a graph of its own, and restores the newest checkpoint.

    Args:
        model_fn: The model function.
        model_dir: The folder of checkpoints and event files.
        config: A `tf.estimator.RunConfig`: where and how to run.
        params: Hyperparameters, which the model function gets.
        warm_start_from: A checkpoint, or `tf.estimator.WarmStartSettings`, whose values variables start with.

    Example:
        >>> def model_fn(features, labels, mode):
        ...     w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        ...     loss = tf.losses.mean_squared_error(labels, w * features["x"])
        ...     step = tf.train.GradientDescentOptimizer(0.5).minimize(loss, tf.train.get_global_step())
        ...     return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)
        >>> estimator = tf.estimator.Estimator(model_fn, "model")
        >>> x = np.ones([4], np.float32)
        >>> data = tf.estimator.inputs.numpy_input_fn({"x": x}, 3.0 * x, shuffle=False)
        >>> estimator.train(data).get_variable_value("w")
        np.float32(3.0)
    """

    def __init__(self, model_fn, model_dir=None, config=None, params=None, warm_start_from=None):
        self._assert_members_are_not_overridden()
        self._config = _config_with_model_dir(config, model_dir)
        self._model_dir = self._config.model_dir
        self._session_config = self._config.session_config
        logging.info("Using config: %s", vars(self._config))
        self._device_fn = self._config.device_fn or _replica_device_fn(self._config)
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        check_model_fn(model_fn, params)
        if params is None and "params" in fn_args(model_fn):
            logging.warning(
                "The model_fn has an argument params, but the Estimator was given none: it gets an empty dict."
            )
        self._model_fn = model_fn
        self._params = copy.deepcopy(params or {})
        self._warm_start_settings = as_warm_start_settings(warm_start_from)

    # --- what it is

    model_dir = property(lambda self: self._model_dir, doc="The folder of checkpoints and summaries.")
    config = property(lambda self: copy.deepcopy(self._config), doc="A copy of the RunConfig.")

    @property
    def params(self):
        """A copy of the params that the model function gets."""
        return copy.deepcopy(self._params)

    @property
    def model_fn(self):
        """The model function, as `fn(features, labels, mode, config)`, with params bound."""

        def public_model_fn(features, labels, mode, config):
            return self._call_model_fn(features, labels, mode, config)

        return public_model_fn

    def get_variable_value(self, name):
        """The value of a variable in the newest checkpoint."""
        self._check_has_checkpoint()
        return load_variable(self.model_dir, name)

    def get_variable_names(self):
        """The names of all variables in the newest checkpoint."""
        self._check_has_checkpoint()
        return [name for name, _ in list_variables(self.model_dir)]

    def latest_checkpoint(self):
        """The path of the newest checkpoint, None before training."""
        return latest_checkpoint(self.model_dir)

    def eval_dir(self, name=None):
        """The folder that evaluations of that name are written to."""
        return os.path.join(self._model_dir, f"eval_{name}" if name else "eval")

    def _newest_checkpoint(self):
        """The newest checkpoint; without one, a model is as it would start training."""
        path = self.latest_checkpoint()
        if not path:
            logging.info(
                "Could not find trained model in model_dir: %s, so that variables are initialized.", self._model_dir
            )
        return path

    def _check_has_checkpoint(self):
        if not latest_checkpoint(self.model_dir):
            raise ValueError(f"Could not find trained model in model_dir: {self._model_dir}.")

    # --- training

    def train(self, input_fn, hooks=None, steps=None, max_steps=None, saving_listeners=None):
        """Train for `steps` more steps, or up to step `max_steps`, or until the input ends; gives itself.

        Training goes on from the newest checkpoint of the model's folder.
        """
        if self.config.task_type in (TaskType.EVALUATOR, TaskType.PS):
            raise ValueError(
                f"Train has been called wrong configuration. Please use tf.estimator.train_and_evaluate. task_type: {self.config.task_type}"
            )
        if steps is not None and max_steps is not None:
            raise ValueError(
                f"steps is {steps} and max_steps {max_steps}: train for a number of steps or up to one, not both."
            )
        for name, value in (("steps", steps), ("max_steps", max_steps)):
            if value is not None and value <= 0:
                raise ValueError(f"Must specify {name} > 0, given: {value}")
        start_step = 0
        if max_steps is not None:
            start_step = step_of_checkpoint(self._model_dir)
            if max_steps <= start_step:
                logging.info(
                    "Nothing to train: the last checkpoint is of step %d, and max_steps is %d.", start_step, max_steps
                )
                return self
        hooks = list(check_hooks(hooks))
        if steps is not None or max_steps is not None:
            hooks.append(StopAtStepHook(steps, max_steps))
        self._training = Work("Training", steps or max_steps, done=start_step)
        with self._training:
            loss = self._train_model(input_fn, hooks, list(check_hooks(saving_listeners, CheckpointSaverListener)))
        logging.info("Loss for final step: %s.", loss)
        return self

    def _train_model(self, input_fn, hooks, saving_listeners):
        strategy = self._config.train_distribute
        with Graph().as_default() as graph, graph.device(self._device_fn) if strategy is None else strategy.scope():
            set_random_seed(self._config.tf_random_seed)
            self._create_and_assert_global_step(graph)
            if strategy is not None:
                spec, input_hooks = distributed_train_spec(self, strategy, input_fn)
            else:
                _get_or_create_global_step_read(graph)
                features, labels, input_hooks = parse_input_fn_result(self._call_input_fn(input_fn, ModeKeys.TRAIN))
                spec = self._call_model_fn(features, labels, ModeKeys.TRAIN, self.config)
            return self._train_with_estimator_spec(spec, [*input_hooks], hooks, saving_listeners)

    def _train_with_estimator_spec(self, spec, worker_hooks, hooks, saving_listeners):
        self._warm_start_without(None)
        if not any(summary.op.name == "loss" for summary in get_collection(GraphKeys.SUMMARIES)):
            summaries.scalar("loss", spec.loss)
        add_to_collection(GraphKeys.LOSSES, spec.loss)
        worker_hooks.extend(hooks)
        worker_hooks.append(NanTensorHook(spec.loss))
        if self._config.log_step_count_steps is not None:
            watched = {"loss": spec.loss, "step": get_global_step()}
            worker_hooks.append(LoggingTensorHook(watched, every_n_iter=self._config.log_step_count_steps))
        worker_hooks.extend(spec.training_hooks)
        if not (spec.scaffold.saver or get_collection(GraphKeys.SAVERS)):
            limits = {"max_to_keep": self._config.keep_checkpoint_max}
            limits["keep_checkpoint_every_n_hours"] = self._config.keep_checkpoint_every_n_hours
            saver = Saver(sharded=True, **limits, defer_build=True, save_relative_paths=True)
            add_to_collection(GraphKeys.SAVERS, saver)
        chief_hooks = self._saver_hooks([*worker_hooks, *spec.training_chief_hooks], spec.scaffold, saving_listeners)
        loss, stepped = None, False
        with MonitoredTrainingSession(
            master=self._config.master,
            is_chief=self._config.is_chief,
            checkpoint_dir=self._model_dir,
            scaffold=spec.scaffold,
            hooks=worker_hooks,
            chief_only_hooks=[*chief_hooks, *spec.training_chief_hooks],
            save_checkpoint_secs=0,  # The hook above saves.
            save_summaries_steps=self._config.save_summary_steps,
            config=self._session_config,
            max_wait_secs=self._config.session_creation_timeout_secs,
            log_step_count_steps=self._config.log_step_count_steps,
        ) as session:
            while not session.should_stop():
                _, loss = session.run([spec.train_op, spec.loss])
                stepped = True
                self._training.advance(loss=loss)
        if not stepped:
            logging.warning("Training with estimator made no steps. Perhaps input is empty or misspecified.")
        return loss

    def _saver_hooks(self, hooks, scaffold, saving_listeners):
        """The hook that saves checkpoints, unless the program brought one; listeners go to whichever saves."""
        saving = [hook for hook in hooks if isinstance(hook, CheckpointSaverHook)]
        made = []
        if not saving and (self._config.save_checkpoints_secs or self._config.save_checkpoints_steps):
            when = {"save_secs": self._config.save_checkpoints_secs, "save_steps": self._config.save_checkpoints_steps}
            made = saving = [CheckpointSaverHook(self._model_dir, **when, scaffold=scaffold)]
        if saving_listeners:
            if not saving:
                raise ValueError(
                    "There should be a CheckpointSaverHook to use saving_listeners: set RunConfig.save_checkpoints_steps or save_checkpoints_secs."
                )
            saving[0]._listeners = [*saving[0]._listeners, *saving_listeners]
        return made

    # --- evaluation

    def evaluate(self, input_fn, steps=None, hooks=None, checkpoint_path=None, name=None):
        """Metrics, loss and step over `steps` batches or all; also written as summaries to `eval_dir(name)`."""
        hooks = [*self._eval_hooks(steps, hooks), _ShowProgress("Evaluating", steps)]
        checkpoint_path = checkpoint_path or self._newest_checkpoint()
        # Training may be under way around this, in the scope of its strategy.
        with strategy_context.entered(None), Graph().as_default() as graph, graph.device(self._device_fn):
            scaffold, update_op, values, all_hooks = self._evaluate_build_graph(input_fn, hooks, checkpoint_path)
            return self._evaluate_run(checkpoint_path, scaffold, update_op, values, all_hooks, self.eval_dir(name))

    @staticmethod
    def _eval_hooks(steps, hooks):
        hooks = list(check_hooks(hooks))
        if steps is not None:
            if steps <= 0:
                raise ValueError(f"Must specify steps > 0, given: {steps}")
            hooks.append(StopAfterNEvalsHook(num_evals=steps))
        return hooks

    def _evaluate_run(self, checkpoint_path, scaffold, update_op, values, hooks, output_dir):
        """Run an evaluation that is drawn, write its results and give them."""
        places = {"master": self._config.evaluation_master, "config": self._session_config, "scaffold": scaffold}
        results = evaluate_once(checkpoint_path, eval_ops=update_op, final_ops=values, hooks=hooks, **places)
        write_results(output_dir, results, results[GLOBAL_STEP])
        if checkpoint_path:
            write_checkpoint_path(output_dir, results[GLOBAL_STEP], checkpoint_path)
        return results

    def _evaluated(self, spec):
        """{name: metric} of an evaluation."""
        return with_loss_metric(spec.eval_metric_ops, spec.loss)

    def _evaluate_build_graph(self, input_fn, hooks=None, checkpoint_path=None):
        """Draw the model for evaluation; (scaffold, update op, values by name, hooks)."""
        graph = get_default_graph()
        set_random_seed(self._config.tf_random_seed)
        self._create_and_assert_global_step(graph)
        features, labels, input_hooks = parse_input_fn_result(self._call_input_fn(input_fn, ModeKeys.EVAL))
        spec = self._call_model_fn(features, labels, ModeKeys.EVAL, self.config)
        values, update_op = values_and_update(self._evaluated(spec))
        values[GLOBAL_STEP] = get_global_step()
        self._warm_start_without(checkpoint_path)
        return spec.scaffold, update_op, values, [*input_hooks, *(hooks or ()), *spec.evaluation_hooks]

    def _warm_start_without(self, checkpoint_path):
        """Where there is no checkpoint yet, the model is what it would start training with."""
        if not checkpoint_path and self._warm_start_settings:
            logging.info("Warm-starting with WarmStartSettings: %s", self._warm_start_settings)
            warm_start(*self._warm_start_settings)

    # --- prediction

    def predict(self, input_fn, predict_keys=None, hooks=None, checkpoint_path=None, yield_single_examples=True):
        """Yield the predictions for each example, or for each batch; with `predict_keys`, only those."""
        hooks = list(check_hooks(hooks))
        checkpoint_path = checkpoint_path or self._newest_checkpoint()
        with Graph().as_default() as graph, graph.device(self._device_fn):
            set_random_seed(self._config.tf_random_seed)
            self._create_and_assert_global_step(graph)
            features, input_hooks = self._features_for_prediction(input_fn)
            spec = self._call_model_fn(features, None, ModeKeys.PREDICT, self.config)
            self._warm_start_without(checkpoint_path)
            predictions = _chosen(spec.predictions, predict_keys)
            places = {"master": self._config.master, "config": self._session_config, "scaffold": spec.scaffold}
            creator = ChiefSessionCreator(checkpoint_filename_with_path=checkpoint_path, **places)
            with MonitoredSession(
                session_creator=creator, hooks=[*input_hooks, *hooks, *spec.prediction_hooks]
            ) as session:
                while not session.should_stop():
                    batch = session.run(predictions)
                    if not yield_single_examples:
                        yield batch
                    elif not isinstance(predictions, dict):
                        yield from batch
                    else:
                        for i in range(_batch_length(batch)):
                            yield {key: value[i] for key, value in batch.items()}

    def _features_for_prediction(self, input_fn):
        result = self._call_input_fn(input_fn, ModeKeys.PREDICT)
        features, _, hooks = parse_input_fn_result(result)
        from_data = any(
            getattr(x, "op", None) is not None and x.op.type == "IteratorGetNext" for x in nest.flatten(result)
        )
        if not hooks and not from_data and not get_collection(GraphKeys.QUEUE_RUNNERS):
            logging.warning(
                "The input uses neither tf.data nor queues: predict yields forever, unless a hook stops it."
            )
        return features, hooks

    # --- export

    @takes(
        f"export_dir_base, serving_input_receiver_fn, {_EXPORT_OPTIONS}, experimental_mode=PREDICT",
        PREDICT=ModeKeys.PREDICT,
    )
    def export_saved_model(self, export_dir_base, serving_input_receiver_fn, experimental_mode, **options):
        """Write the model for serving into a new folder, named by the time; its path as bytes.

        >>> estimator.export_saved_model("export", tf.estimator.export.build_raw_serving_input_receiver_fn({"x": x}))
        """
        return self._export(export_dir_base, {experimental_mode: serving_input_receiver_fn}, **options)

    @takes(f"export_dir_base, serving_input_receiver_fn, {_EXPORT_OPTIONS}, strip_default_attrs=False")
    def export_savedmodel(self, export_dir_base, serving_input_receiver_fn, **options):
        """As `export_saved_model`; attributes with default values are kept, for old readers."""
        return self._export(export_dir_base, {ModeKeys.PREDICT: serving_input_receiver_fn}, **options)

    @takes(f"export_dir_base, input_receiver_fn_map, {_EXPORT_OPTIONS}")
    def experimental_export_all_saved_models(self, export_dir_base, input_receiver_fn_map, **options):
        """Write one SavedModel with a graph for each mode that has a receiver function."""
        return self._export(export_dir_base, input_receiver_fn_map, **options)

    def _export(self, export_dir_base, receivers, assets_extra, as_text, checkpoint_path, strip_default_attrs=True):
        if not all(receivers.values()):
            raise ValueError("An input_receiver_fn must be defined.")
        checkpoint_path = checkpoint_path or self.latest_checkpoint()
        if not checkpoint_path and self._warm_start_settings:
            checkpoint_path = self._warm_start_settings.ckpt_to_initialize_from
        if not checkpoint_path:
            raise ValueError(f"Couldn't find trained model at {self._model_dir}.")
        return saved_model_export.export(
            self, export_dir_base, receivers, assets_extra, as_text, checkpoint_path, strip_default_attrs
        )

    # --- calling what users wrote

    def _call_input_fn(self, input_fn, mode, **more):
        """What an input function gives; it may take mode, params and config, and with a strategy input_context."""
        with device("/cpu:0"):
            return input_fn(**named(input_fn, mode=mode, params=self._input_params(mode), config=self.config, **more))

    def _input_params(self, mode):
        """What an input function gets as params; subclasses may add to it."""
        return self.params

    def _call_model_fn(self, features, labels, mode, config):
        names = fn_args(self._model_fn)
        arguments = named(self._model_fn, labels=labels, mode=mode, params=self.params, config=config)
        if "labels" not in names and labels is not None:
            raise ValueError(
                "model_fn does not take labels, which input_fn gives: add the argument, or let input_fn return features only."
            )
        logging.info("Calling model_fn.")
        spec = self._model_fn(features=features, **arguments)
        logging.info("Done calling model_fn.")
        if not isinstance(spec, EstimatorSpec):
            raise ValueError(f"model_fn should return an EstimatorSpec, not {spec!r}.")
        return spec

    def _create_global_step(self, graph):
        """The global step; subclasses may make it in another way."""
        return create_global_step(graph)

    def _create_and_assert_global_step(self, graph):
        step = self._create_global_step(graph)
        if step is not get_global_step():
            raise ValueError("_create_global_step has to put the global step into the graph's collection.")
        if not step.dtype.is_integer:
            raise TypeError(f"The global step must be of an integer type, not {step.dtype}.")
        return step

    def _assert_members_are_not_overridden(self):
        """Canned estimators and programs add methods; what is here must keep its meaning."""
        allowed = {"_create_global_step", "_create_and_assert_global_step", "_input_params", "_evaluated"}
        mine = {name for name in vars(Estimator) if not name.startswith("__")} - allowed
        below = [cls for cls in type(self).__mro__ if issubclass(cls, Estimator) and cls is not Estimator]
        overridden = sorted(name for cls in below for name in vars(cls) if name in mine)
        if overridden:
            raise ValueError(
                f"Subclasses of Estimator cannot override members of Estimator. {type(self)} does override {overridden}"
            )


class EstimatorV2(Estimator):
    """`tf.compat.v2.estimator.Estimator`: the same, and what the ready-made estimators of TensorFlow 2 are."""


# --- parts ---------------------------------------------------------------------------------------


def _config_with_model_dir(config, model_dir):
    """A RunConfig that knows its model folder, a new temporary one unless told, and its session's settings."""
    if config is None:
        config = RunConfig()
        logging.info("Using default config.")
    elif not isinstance(config, RunConfig):
        raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
    model_dir = os.fspath(model_dir) if isinstance(model_dir, os.PathLike) else model_dir
    if model_dir is not None and config.model_dir is not None and model_dir != config.model_dir:
        raise ValueError(
            f"`model_dir` is {model_dir!r} for the estimator and {config.model_dir!r} in its `RunConfig`: give it once, or the same twice."
        )
    model_dir = model_dir or config.model_dir
    if model_dir is None:
        model_dir = tempfile.mkdtemp()
        logging.warning("Using temporary folder as model directory: %s", model_dir)
    config = config.replace(model_dir=model_dir) if config.model_dir != model_dir else config
    return config if config.session_config is not None else config.replace(session_config=default_session_config())


def _replica_device_fn(config):
    """Puts variables and tables on parameter servers, where the cluster has them."""
    if not config.num_ps_replicas:
        return None
    worker = f"/job:{config.task_type}/task:{config.task_id}" if config.task_type else "/job:worker"
    servers = {"ps_tasks": config.num_ps_replicas, "ps_ops": list(_STATE_OPS), "cluster": config.cluster_spec}
    return replica_device_setter(worker_device=worker, merge_devices=True, **servers)


class _ShowProgress(SessionRunHook):
    """Shows how many batches are done."""

    def __init__(self, what, total):
        self._what, self._total = what, total

    def begin(self):
        self._work = Work(self._what, self._total, "batches")

    def after_run(self, run_context, run_values):
        self._work.advance()

    def end(self, session):
        self._work.close()


def step_of_checkpoint(folder):
    """The global step that the newest checkpoint of a folder holds; 0 where there is none."""
    path = latest_checkpoint(folder)
    if not path:
        return 0
    try:
        return int(load_checkpoint(path).get_tensor(GraphKeys.GLOBAL_STEP))
    except NotFoundError:
        return 0


def _chosen(predictions, keys):
    """The predictions that `keys` ask for."""
    if not keys:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError(f"predict_keys {list(keys)} choose from a dict, but model_fn's predictions are {predictions}.")
    chosen = {key: value for key, value in predictions.items() if key in keys}
    if not chosen:
        raise ValueError(
            f"predict_keys {keys} name none of the predictions; at least one output has to be from {list(predictions)}."
        )
    return chosen


def _batch_length(batch):
    """How many examples a batch of predictions holds; ValueError where they don't agree."""
    length = None
    for key, value in batch.items():
        length = length or value.shape[0]
        if length != value.shape[0]:
            raise ValueError(
                f"Batch length of predictions should be same. {key} has different batch length than others."
            )
    return length or 0
