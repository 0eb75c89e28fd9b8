"""What `compile` makes of a model: losses, metrics, and the functions that train, test and predict on a batch."""

from __future__ import annotations

import contextlib
import inspect

import numpy as np

from everflow.framework import dtypes, nest, strategy_context
from everflow.framework.composites import SparseTensor
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.errors import InvalidArgumentError
from everflow.framework.operation import Tensor
from everflow.framework.scopes import executing_eagerly, name_scope
from everflow.keras import backend as K
from everflow.keras import metrics as metrics_module
from everflow.keras import optimizers
from everflow.keras.backend.state import get_graph
from everflow.keras.engine import endpoints as ends
from everflow.keras.engine import workers
from everflow.keras.engine.call_context import call_context
from everflow.keras.engine.data_checks import as_array, is_symbolic
from everflow.keras.engine.eager_steps import EagerSteps
from everflow.keras.engine.per_output import from_dict, from_list
from everflow.keras.engine.replica_steps import ReplicaSteps
from everflow.keras.engine.tracked_attributes import untracked
from everflow.ops import array, math
from everflow.ops.variables.variable import Variable
from everflow.platform import logging
from everflow.platform.signatures import parameters, takes

COMPILE_PARAMETERS = parameters(
    """optimizer="rmsprop", loss=None, metrics=None, loss_weights=None, sample_weight_mode=None, weighted_metrics=None,
    target_tensors=None, distribute=None, **kwargs"""
)


class Compiling:
    """The part of a model that turns outputs into something to train."""

    @untracked
    def _forget_compilation(self):
        self._is_compiled = False
        self._distribution_strategy = None
        self._experimental_run_tf_function = False
        self._steps, self._run_eagerly = None, None
        self._collected_trainable_weights = None
        self._compiled_trainable_state = {}
        self._inputs_are_named = False
        self._endpoints = []
        self.optimizer = None
        self.loss = None
        self.total_loss = None
        self.train_function = self.test_function = self.predict_function = None
        self._compile_arguments = None
        self._reads_tensors = False
        self._compile_metric_objects = []
        self._metric_results = {}
        self._function_kwargs = {}
        self.history = None
        self.stop_training = False

    @takes(COMPILE_PARAMETERS)
    @untracked
    def compile(self, optimizer, loss, metrics, distribute, **kwargs):
        """Say how to train: with which optimizer, loss (one, or a list or dict for several outputs) and metrics.

        >>> model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
        """
        if distribute is not None:
            raise ValueError(
                "`compile` takes no strategy as `distribute`: make and compile the model under `strategy.scope()` instead."
            )
        options = {name: kwargs.pop(name) for name in COMPILE_PARAMETERS if name in kwargs}
        kwargs.pop("cloning", None)
        # There is one way of training; it only tells what a prediction on a batch is.
        in_functions = kwargs.pop("experimental_run_tf_function", True)
        self._experimental_run_tf_function = in_functions and executing_eagerly()
        self.run_eagerly = kwargs.pop("run_eagerly", None)
        self.optimizer = self._with_loss_scale(optimizers.get(optimizer))
        self.loss = loss or {}
        self.loss_weights, self.sample_weight_mode = options["loss_weights"], options["sample_weight_mode"]
        self._compile_metrics = metrics or []
        self._compile_weighted_metrics = options["weighted_metrics"]
        self._function_kwargs = kwargs
        self._compile_arguments = {"loss": loss, "metrics": metrics, **options, **kwargs}
        self._is_compiled = True
        self._require_eager_mode()
        self._note_strategy(options)
        if not self.outputs:
            # The outputs are known when data comes.
            return
        self._make_endpoints(options["target_tensors"])
        self._make_metrics(metrics, options["weighted_metrics"])
        self._steps = self._new_steps()
        if executing_eagerly():
            if not self.run_eagerly:  # its batches tell whether there is one
                self._require_loss(any(e.loss is not None for e in self._endpoints))
            self._collect_what_is_trained()
            return
        # One replica draws as if there was no strategy, under which its variables were made; several workers read what
        # all of them have counted.
        with strategy_context.left() if workers.worker() is None else workers.drawing():
            self._draw_metrics("metrics")
            self._draw_weights_and_loss()
        self.train_function = self.test_function = self.predict_function = None
        self._collect_what_is_trained()

    def _collect_what_is_trained(self):
        self._collected_trainable_weights = self.trainable_weights
        self._compiled_trainable_state = self._get_trainable_state()

    @contextlib.contextmanager
    def _trainable_as_compiled(self):
        """Inside, layers are frozen that were so when the model was compiled, and no others."""
        now = self._get_trainable_state()
        self._set_trainable_state({**now, **self._compiled_trainable_state})
        try:
            yield
        finally:
            self._set_trainable_state(now)

    def _with_loss_scale(self, optimizer):
        """An optimizer as the model's policy of mixed precision wants it: with losses that are scaled."""
        scale = getattr(self._policy, "loss_scale", None)
        if scale is None or hasattr(optimizer, "loss_scale"):
            return optimizer
        if not hasattr(optimizer, "_with_loss_scale"):
            raise ValueError(
                f"The policy of model {self.name} scales losses, which takes an optimizer of tf.keras.optimizers, not "
                f"{optimizer!r}."
            )
        return optimizer._with_loss_scale(scale)

    def _note_strategy(self, options):
        """The strategy in force is the model's; its variables must have been made under the same."""
        frame = strategy_context.current()
        self._distribution_strategy = strategy = None if frame is None else frame.strategy
        if strategy is not None:
            self._refuse_under_strategy(options)
        for variable in self.weights if self.built else ():
            made_under = getattr(variable, "distribute_strategy", None)
            if strategy is None:
                # What is on one device anyway is as good as made without a strategy.
                is_ours = made_under is None or not hasattr(variable, "values")
            else:
                is_ours = strategy.extended.variable_created_in_scope(variable)
            if not is_ours:
                raise ValueError(
                    f"{variable.name} was made under another strategy than the model is compiled under: make the model and "
                    "compile it inside of the same `strategy.scope()`."
                )

    @property
    def _has_replicas(self):
        """Whether batches are shared by several replicas of this process."""
        strategy = self._distribution_strategy
        if strategy is None or strategy.extended._has_replicas_elsewhere:
            return False
        return strategy.num_replicas_in_sync > 1

    def _distribution_scope(self):
        """A context in which all replicas of the model's strategy are looked at together."""
        return self._distribution_strategy.scope() if self._has_replicas else contextlib.nullcontext()

    def _new_steps(self):
        """What runs batches by calling the model; None where a session runs what was drawn at once."""
        if self._has_replicas:
            return ReplicaSteps(self)
        return EagerSteps(self) if executing_eagerly() else None

    @property
    def _spreads_arrays(self):
        """Whether a strategy spreads arrays over replicas before training begins, as it does but in traced functions."""
        return self._distribution_strategy is not None and not self._experimental_run_tf_function

    def _refuse_under_strategy(self, options):
        if not executing_eagerly() and not self._is_graph_network:
            raise ValueError(
                f"In a graph, a strategy spreads models whose inputs are known before data comes. {self.name} is a subclassed model, or "
                "a `Sequential` model created without `input_shape`/`input_dim` in its first layer."
            )
        if self._run_eagerly and self._spreads_arrays:
            raise ValueError(
                "A strategy spreads batches over traced functions: compile without `run_eagerly`, or leave "
                "`experimental_run_tf_function` on."
            )
        if options.get("target_tensors") is not None:
            raise ValueError("`target_tensors` can't be given where a strategy spreads batches over replicas.")
        if options.get("sample_weight_mode"):
            raise NotImplementedError(
                "`sample_weight_mode` can't be given where a strategy spreads batches over replicas."
            )
        if self._spreads_arrays and options.get("weighted_metrics"):
            raise NotImplementedError(
                "`weighted_metrics` can't be given where a strategy spreads arrays over replicas."
            )

    def _make_endpoints(self, target_tensors):
        """An endpoint for each output, with its loss, weights and target."""
        names = self.output_names
        losses = ends.loss_objects(self.loss if self.loss != {} else None, names)
        modes = ends.sample_weight_modes(self.sample_weight_mode, names)
        if not self._run_eagerly:
            ends.check_sample_weight_modes(modes)
        self._endpoints = [
            ends.Endpoint(o, n, one, mode) for o, n, one, mode in zip(self.outputs, names, losses, modes)
        ]
        for endpoint, weight in zip(self._endpoints, ends.loss_weights(self.loss_weights, names)):
            endpoint.loss_weight = weight
        for endpoint, tensor in zip(self._endpoints, self._target_tensors(target_tensors)):
            if not executing_eagerly():
                endpoint.make_target(tensor)
                continue
            endpoint.is_fed = endpoint.loss is not None
            if tensor is not None and self._run_eagerly:
                raise ValueError("`target_tensors` can't be given with `run_eagerly`: give targets with the data.")
            endpoint.given_target = tensor

    def _target_tensors(self, given):
        if given is None or isinstance(given, (list, tuple)) and not given:
            return [None] * len(self._endpoints)
        if isinstance(given, dict):
            return from_dict(given, self.output_names, "target_tensors")
        if not isinstance(given, (list, tuple, Tensor, Variable, SparseTensor)):
            raise TypeError(
                f"`target_tensors` is a tensor, a list of them, or a dict by the names of outputs, not {given!r}."
            )
        return from_list(given if isinstance(given, (list, tuple)) else [given], self.output_names, "target_tensors")

    # --- metrics -------------------------------------------------------------------------------

    def _make_metrics(self, metrics, weighted_metrics):
        names = self.output_names
        self._compile_metric_objects, self._metric_results, used = [], {}, set()
        of_outputs = ends.metrics_by_output(metrics, names)
        weighted = ends.metrics_by_output(weighted_metrics, names)
        for endpoint, plain, with_weights in zip(self._endpoints, of_outputs, weighted):
            if not endpoint.is_fed and endpoint.target is None:
                continue
            for asked, kept, is_weighted in (
                (plain, endpoint.metrics, False),
                (with_weights, endpoint.weighted_metrics, True),
            ):
                # Of two metrics of one name, the later takes the place of the former.
                by_name = dict(ends.metric_object(metric, endpoint, is_weighted) for metric in asked)
                for name, made in by_name.items():
                    made._name = self._unique_metric_name(name, endpoint, used)
                    kept.append(made)
        # Names in the order of outputs, first the plain metrics of one and then its weighted ones.
        self._compile_metric_objects = [m for e in self._endpoints for m in (*e.metrics, *e.weighted_metrics)]
        if len(self._endpoints) > 1:
            for endpoint in self._endpoints:
                if endpoint.loss is not None:
                    endpoint.loss_metric = metrics_module.Mean(name=endpoint.name + "_loss")

    def _unique_metric_name(self, name, endpoint, used):
        base = f"{endpoint.name}_{name}" if len(self._endpoints) > 1 else name
        result, number = base, 1
        while result in used:
            result, number = f"{base}_{number}", number + 1
        used.add(result)
        return result

    def _draw_metrics(self, kind):
        with name_scope("metrics"):
            for endpoint in self._endpoints:
                weighted = kind == "weighted_metrics"
                for metric in getattr(endpoint, kind):
                    with name_scope(metric.name):
                        weight = endpoint.sample_weight if weighted else None
                        mask = endpoint.mask
                        self._metric_results[metric] = ends.call_metric(
                            metric, endpoint.target, endpoint.output, weight, mask
                        )

    @property
    def metrics(self):
        """The metrics that were compiled, and those that layers report."""
        own = list(self.__dict__.get("_compile_metric_objects", ())) if self.__dict__.get("_is_compiled") else []
        return list(dict.fromkeys([*own, *self._reported_by_layers()]))

    def _reported_by_layers(self):
        """Metrics that layers report; what a nested model was compiled with is its own."""
        found = list(self._metrics)
        for layer in self._nested_layers():
            found += layer._reported_by_layers() if isinstance(layer, Compiling) else layer.metrics
        return found

    @property
    def metrics_names(self) -> list[str]:
        """The names of what training and evaluation report: "loss" and the metrics."""
        names = ["loss"]
        if self._is_compiled:
            names += [e.loss_metric.name for e in self._endpoints if e.loss_metric is not None]
            names += [metric.name for metric in self._compile_metric_objects]
        # As in TensorFlow: those of the layers, not of what these hold, and then the model's own.
        reported = [metric for layer in self._nested_layers() for metric in layer._metrics] + self._metrics
        return names + [metric.name for metric in reported]

    def _reported(self):
        """Metrics whose results follow the loss in what the functions return."""
        return [e.loss_metric for e in self._endpoints if e.loss_metric is not None] + self.metrics

    def _metric_tensors(self):
        found = {}
        for layer in (self, *self._flattened_layers()):
            for name, tensor in layer._metrics_tensors.items():
                found[name] = tensor
        made = [self._metric_results.get(metric, found.get(metric.name)) for metric in self._reported()]
        # A metric that a model holds and that nothing was given to has no tensor.
        return [tensor for tensor in made if tensor is not None]

    def _flattened_layers(self):
        found = []
        for layer in self._nested_layers():
            found.append(layer)
            if hasattr(layer, "_flattened_layers"):
                found += layer._flattened_layers()
            else:
                found += [x for x in layer.submodules if hasattr(x, "_metrics_tensors")]
        return found

    def reset_metrics(self):
        """Begin the metrics anew."""
        for metric in self._reported():
            metric.reset_states()

    # --- the loss ------------------------------------------------------------------------------

    def _draw_weights_and_loss(self):
        for endpoint in self._endpoints:
            if endpoint.sample_weight_mode is not None:
                endpoint.make_sample_weight()
        self._draw_metrics("weighted_metrics")
        self.total_loss = self._draw_loss()

    def _require_loss(self, is_compiled_with_one):
        if not is_compiled_with_one and not self.losses:
            raise ValueError("The model has no loss to optimize: give `compile` a loss, or let a layer add one.")

    def _draw_loss(self):
        with name_scope("loss"):
            total = ends.total_loss(self._endpoints, self._metric_results)
            self._require_loss(total is not None)
            own = self.get_losses_for(None) + self.get_losses_for(self.inputs)
            if own:
                own = math.add_n([math.cast(loss, "float32") if loss.dtype.size < 4 else loss for loss in own])
                total = own if total is None else total + own
        return total

    @untracked
    def _use_sample_weights(self, given):
        """Draw the loss anew where weights of samples come for the first time."""
        changed = False
        if executing_eagerly():
            return
        for endpoint, is_given in zip([e for e in self._endpoints if e.is_fed], given):
            if is_given and endpoint.sample_weight is None:
                endpoint.make_sample_weight()
                changed = True
        if changed:
            self._draw_metrics("weighted_metrics")
            self.total_loss = self._draw_loss()
            self.train_function = self.test_function = None

    sample_weights = property(lambda self: [e.sample_weight for e in self._endpoints])
    _targets = targets = property(lambda self: [e.target for e in self._endpoints])
    _feed_targets = property(lambda self: [e.target for e in self._endpoints if e.is_fed])
    _feed_output_names = property(lambda self: [e.name for e in self._endpoints if e.is_fed])
    _feed_sample_weights = property(
        lambda self: [e.sample_weight for e in self._endpoints if e.sample_weight is not None]
    )
    loss_functions = property(lambda self: [e.loss for e in self._endpoints])
    _loss_weights_list = property(lambda self: [e.loss_weight for e in self._endpoints])

    @property
    def run_eagerly(self):
        """Whether batches are computed operation by operation, untraced."""
        self._require_eager_mode()
        return bool(self._run_eagerly) or self.dynamic

    def _require_eager_mode(self):
        """ValueError where layers that can only run eagerly can't."""
        if self.dynamic and (self._run_eagerly is False or not executing_eagerly()):
            raise ValueError(
                f"{self.name} has layers made with `dynamic=True`, which need eager execution: `tf.enable_eager_execution()`, "
                "and no `run_eagerly=False`."
            )

    @run_eagerly.setter
    @untracked
    def run_eagerly(self, value):
        if value and not executing_eagerly():
            raise ValueError("You can only enable `run_eagerly` when eager execution is enabled.")
        self._run_eagerly = value
        if self._steps is not None:
            self._steps = self._new_steps()

    # --- functions -----------------------------------------------------------------------------

    def _assert_compiled(self):
        if not self._is_compiled:
            raise RuntimeError(
                f"Model {self.name} isn't compiled: call `model.compile(optimizer, loss)` before it is trained or tested."
            )

    def _phase(self):
        """What training feeds besides data; what isn't fed, as in evaluations, is False."""
        phase = K.learning_phase()
        return [phase] if isinstance(phase, Tensor) else []

    def _make_execution_function(self, mode):
        """The function of a mode ("train", "test" or "predict"), made where it wasn't yet."""
        getattr(self, f"_make_{mode}_function")()
        return getattr(self, f"{mode}_function")

    @untracked
    def _make_train_function(self):
        if self.train_function is not None:
            return
        if self._steps is not None:
            self.train_function = self._steps.as_function("train")
            return
        weights = self._collected_trainable_weights
        self._check_trainable_weights_consistency()
        phase = self._phase()
        with workers.drawing(), name_scope("training"):
            updates = self.optimizer.get_updates(params=weights, loss=self.total_loss)
            updates = list(updates) + self.get_updates_for(None) + self.get_updates_for(self.inputs)
        self.train_function = self._function("train", "training", updates, phase)
        status = self.__dict__.pop("_waiting_slots", None)
        if status is not None:
            status.restore_what_came(K.get_session())

    @untracked
    def _make_test_function(self):
        if self.test_function is None and self._steps is not None:
            self.test_function = self._steps.as_function("test")
        elif self.test_function is None:
            self.test_function = self._function("test", "evaluation", self.state_updates)

    @untracked
    def _make_predict_function(self):
        if self.predict_function is None:
            self.predict_function = self._function("predict", "predict", self.state_updates)

    def _function(self, kind, scope, updates, phase=()):
        """A function of what is fed: it gives the loss and metrics, or the outputs, and runs updates."""
        with workers.drawing(), name_scope(scope):
            fed, outputs = list(self._feed_inputs), self.outputs
            if kind != "predict":
                fed += self._feed_targets + self._feed_sample_weights
                outputs = [workers.mean(self.total_loss), *self._metric_tensors()]
            return K.function(
                [*fed, *phase], list(outputs), updates=updates, name=f"{kind}_function", **self._function_kwargs
            )

    def _prepare(self, kind):
        """Make a function before the loop that calls it, where the inputs are known by then."""
        if self.inputs and self._steps is None and not executing_eagerly():
            getattr(self, f"_make_{kind}_function")()

    def _run_function(self, kind, values):
        """Run one of the functions on (inputs, targets, weights)."""
        phase = [True] if kind == "train" and self._phase() else []
        if phase and self._steps is None and [target is None for target in values[1]] == [True]:
            logging.warning(
                f"{self.name} is trained without targets. As in TensorFlow, the flag that this is training takes their "
                "place: each is 1."
            )
            values, phase = (values[0], [np.ones([])], values[2]), [False]
        elif kind != "predict":
            self._require_targets(values[1])
        if executing_eagerly() and self._steps is None:
            self.__dict__["_steps"] = EagerSteps(self)
        if self._steps is not None:
            return self._steps.run(kind, *values)
        getattr(self, f"_make_{kind}_function")()
        inputs, targets, weights = values if kind == "predict" else workers.share(values)
        feeds = list(inputs)
        if kind != "predict":
            feeds += targets
            fed = [e for e in self._endpoints if e.is_fed]
            for endpoint, weight, target in zip(fed, weights or [None] * len(fed), targets):
                if endpoint.sample_weight is not None:
                    feeds.append(_ones_for(endpoint, target) if weight is None else weight)
        return list(getattr(self, f"{kind}_function")([*feeds, *phase]))

    def _require_targets(self, targets):
        for endpoint, target in zip([e for e in self._endpoints if e.is_fed], targets):
            if target is None:
                message = (
                    f'No data provided for "{endpoint.name}". Need data for each key in: {self._feed_output_names}'
                )
                # In a graph it is a placeholder that nothing is fed to.
                raise ValueError(message) if executing_eagerly() else InvalidArgumentError(None, None, message)

    # --- inputs that are known only when data comes ----------------------------------------------

    def _waits_for_data(self):
        """Whether what the model is to be fed with isn't known yet."""
        return not self.inputs or not (self._is_graph_network or self._feed_inputs or self._reads_tensors)

    def _read_tensors(self, x, y):
        """Draw a model that waits for data on a graph's tensors: they are its inputs and targets from then on."""
        targets = nest.flatten(y)
        given = [*nest.flatten(x), *targets]
        if isinstance(y, dict) or executing_eagerly() or not targets or not all(map(is_symbolic, given)):
            return
        self._build_from_data(x, targets)
        self._reads_tensors = True

    def _build_from_data(self, x, target_tensors=None):
        """Draw a subclassed model, or a Sequential without input shape, for data like x."""
        if not self._waits_for_data():
            return
        if x is None:
            raise ValueError("The model needs data to be built: it has been given none.")
        with self._distribution_scope():
            self._set_inputs(x)
            if self._is_compiled:
                kept = {
                    "run_eagerly": self._run_eagerly,
                    "experimental_run_tf_function": self._experimental_run_tf_function,
                }
                arguments = dict(self._compile_arguments)
                if target_tensors:
                    arguments["target_tensors"] = target_tensors
                self.compile(optimizer=self.optimizer, **kept, **arguments)
        self._finish_restoring()

    def _finish_restoring(self):
        """Restore what was loaded before there were variables."""
        status = self.__dict__.pop("_waiting_restore", None)
        if status is not None:
            status.run_restore_ops(session=None if executing_eagerly() else K.get_session())

    @untracked
    def _set_inputs(self, inputs, outputs=None, training=None):
        self._check_arguments_of_call()
        names = sorted(inputs) if isinstance(inputs, dict) else None
        flat = [inputs[name] for name in names] if names else nest.flatten(inputs) if _is_several(inputs) else [inputs]
        names = names or [f"input_{i + 1}" for i in range(len(flat))]
        self._inputs_are_named = isinstance(inputs, dict)
        with get_graph().as_default():
            tensors = [_placeholder_like(value, name) for value, name in zip(flat, names)]
        if outputs is None:
            if isinstance(inputs, dict):
                given = dict(zip(names, tensors))
            else:
                given = tensors if _is_several(inputs) and len(tensors) > 1 else tensors[0]
            with get_graph().as_default():
                training = K.learning_phase()
            kwargs = {"training": training} if self._call_takes("training") else {}
            try:
                with call_context.told(training):
                    outputs = self(given, **kwargs)
            except NotImplementedError:
                if not self.run_eagerly:
                    raise
                # The shapes of what a dynamic layer makes are seen on data.
                outputs = self(nest.map_structure(_as_model_input, inputs))
        self._note_inputs_and_outputs(tensors, names, outputs)

    def _check_arguments_of_call(self):
        """Training calls a model on inputs alone, and says whether it trains."""
        parameters = list(inspect.signature(self.call).parameters.values())[1:]
        required = [p.name for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
        if set(required) - {"training"}:
            raise ValueError(
                f"The `call` of {self.name} can't be trained with `fit`, which gives it inputs and `training`: it needs {required} too."
            )

    def _note_call(self, inputs, outputs):
        """The first call on tensors tells what the inputs and outputs are."""
        if not self.inputs and not self._is_graph_network and not executing_eagerly():
            tensors = nest.flatten(inputs)
            names = sorted(inputs) if isinstance(inputs, dict) else [f"input_{i + 1}" for i in range(len(tensors))]
            self._note_inputs_and_outputs(tensors, names, outputs)

    @untracked
    def _note_inputs_and_outputs(self, tensors, names, outputs):
        self.inputs, self.input_names = tensors, names
        self._feed_inputs = [t for t in tensors if K.is_placeholder(t)]
        self._feed_input_names = [n for n, t in zip(names, tensors) if K.is_placeholder(t)]
        self._feed_input_shapes = [K.int_shape(t) for t in self._feed_inputs]
        self.outputs = nest.flatten(outputs)
        self.output_names = [f"output_{i + 1}" for i in range(len(self.outputs))]
        self.built = True


def _is_several(inputs):
    return isinstance(inputs, (list, tuple)) and bool(inputs) and not isinstance(inputs[0], (int, float, list))


def _as_model_input(value):
    """Data as a tensor of the type that a placeholder for it would have."""
    tensor = convert_to_tensor(value)
    return math.cast(tensor, K.floatx()) if tensor.dtype.is_floating else tensor


def _placeholder_like(value, name):
    """A placeholder for arrays like this one; a tensor stays itself."""
    if isinstance(value, Tensor) and not hasattr(value, "numpy"):
        return value
    value = as_array(value)
    dtype = dtypes.as_dtype(value.dtype)
    return K.placeholder(
        shape=(None, *value.shape[1:]), name=name, dtype=K.floatx() if dtype.is_floating else dtype.name
    )


def _ones_for(endpoint, target):
    rank = 2 if endpoint.sample_weight_mode == "temporal" else 1
    if is_symbolic(target):
        return array.ones(array.shape(target)[:rank])
    return np.ones(target.shape[:rank] if np.ndim(target) else [1] * rank, "float32")
