"""What a layer adds to training besides its outputs: losses, updates of its state, metrics."""

from __future__ import annotations

import contextlib

from everflow.framework import nest, strategy_context
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import (
    executing_eagerly,
    executing_eagerly_outside_functions,
    get_default_graph,
    name_scope,
)
from everflow.keras.backend.state import in_symbolic_graph
from everflow.keras.engine.call_context import call_context
from everflow.keras.engine.known_classes import known_class
from everflow.ops import array, math
from everflow.ops.functions.bodies import PartGraph


class LayerLosses:
    """The part of a layer that keeps losses, updates and metrics.

    A loss or update that was given with `inputs` holds for those inputs only: a model built on other inputs leaves it
    out.
    """

    # --- losses ------------------------------------------------------------------------------

    @property
    def losses(self):
        """Losses of the layer: of its outputs, and regularizers of its weights, which are drawn anew each time."""
        made = list(self._eager_losses or self._losses)
        made += [loss for loss in (make() for make in self._callable_losses) if loss is not None]
        return made + [loss for layer in self._nested_layers() for loss in layer.losses]

    def _losses_of_call(self):
        """The same for what has just been called where operations run at once: none that was drawn before."""
        made = list(self._eager_losses)
        made += [loss for loss in (make() for make in self._callable_losses) if loss is not None]
        return made + [loss for layer in self._nested_layers() for loss in layer._losses_of_call()]

    def add_loss(self, losses, inputs=None):
        """Add a loss, several, or functions without arguments that make one.

        >>> class Penalty(tf.keras.layers.Layer):
        ...     def call(self, inputs):
        ...         self.add_loss(0.1 * tf.reduce_sum(tf.abs(inputs)), inputs=True)
        ...         return inputs
        """
        for loss in nest.flatten(losses):
            if loss is None:
                continue
            if callable(loss):
                self._callable_losses.append(_tagged_function(loss, inputs is None))
                continue
            _refuse_branches("add_loss")
            if not isinstance(loss, Tensor):
                loss = convert_to_tensor(loss)
            loss._unconditional_loss = inputs is None
            if loss.is_eager or not executing_eagerly() and runs_at_once():
                if not call_context.in_call:
                    raise ValueError(
                        "Outside of a layer's `call`, `add_loss` takes a tensor of the model, or a function without arguments that makes "
                        "the loss anew for each batch."
                    )
                self._eager_losses.append(loss)
            elif self._hangs_on_graph():
                self._graph_network_add_loss(loss)
            else:
                self._losses.append(loss)

    def _hangs_on_graph(self):
        """Whether what is added now belongs to the graph of layers of a functional model, and not to one call of it."""
        return getattr(self, "_is_graph_network", False) and not call_context.in_call

    def _clear_losses(self, drawn=False):
        """Forget the losses of outputs: where operations run at once each call has its own. `drawn`: also those drawn."""
        self._eager_losses.clear()
        if drawn:
            self._losses.clear()
        for layer in self._nested_layers():
            layer._clear_losses(drawn)

    def _regularize_activity(self, inputs, outputs):
        if self._activity_regularizer is None:
            return
        _refuse_branches("activity_regularizer", of_functions=True)
        with name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self._activity_regularizer(output)
                batch_size = math.cast(array.shape(output)[0], loss.dtype)
                self.add_loss(loss / batch_size, inputs=inputs)

    def _regularize_weight(self, name, variable, regularizer):
        """Let a weight's regularizer be one of the losses."""

        def loss():
            with name_scope(name + "/Regularizer"):
                return regularizer(variable)

        self.add_loss(loss)

    def get_losses_for(self, inputs):
        """The losses that depend on `inputs`; for None those that depend on none."""
        return _depending(self.losses, "_unconditional_loss", inputs)

    # --- updates -----------------------------------------------------------------------------

    @property
    def updates(self):
        """Ops to run with each training step, e.g. moving averages; none while the layer is frozen."""
        if not self.trainable and not self.stateful:
            return []
        return list(self._updates) + [update for layer in self._nested_layers() for update in layer.updates]

    def add_update(self, updates, inputs=None):
        """Add ops (or functions that make them) to run with each training step."""
        if call_context.in_call:
            relevant = nest.flatten(call_context.inputs)
        else:
            relevant = [t for node in self._inbound_nodes for t in nest.flatten(node.input_tensors)]
        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            # What a call has drawn where all else runs at once is part of that call; a function is for training to run.
            is_part_of_call = not callable(update) and call_context.in_call and executing_eagerly_outside_functions()
            if callable(update):
                if runs_at_once() and (call_context.frozen or not call_context.updating):
                    continue  # what a frozen layer knows stays as it is
                update = update()
            if update is None or runs_at_once() or is_part_of_call:
                continue
            if not isinstance(update, Operation):
                update = update.op if hasattr(update, "op") else convert_to_tensor(update).op
            # One that doesn't depend on the inputs holds for all models with this layer.
            update._unconditional_update = not reachable(relevant, [update])
            self._updates.append(update)

    def get_updates_for(self, inputs):
        """The updates that depend on `inputs`; for None those that depend on none."""
        return _depending(self.updates, "_unconditional_update", inputs)

    # --- metrics -----------------------------------------------------------------------------

    @property
    def metrics(self):
        """The metrics that `add_metric` made or was given."""
        return list(self._metrics) + [metric for layer in self._nested_layers() for metric in layer.metrics]

    def add_metric(self, value, aggregation=None, name=None):
        """Report a tensor as a metric: its mean over an epoch, or the result of a metric object."""
        if aggregation not in (None, "mean"):
            raise ValueError(f'add_metric knows aggregation="mean" and None, not {aggregation!r}.')
        _refuse_branches("add_metric")
        from_metric = hasattr(value, "_metric_obj")
        if name is None and not from_metric:
            raise ValueError(f"The metric of {value} needs a name: `add_metric(value, name=..., aggregation='mean')`.")
        if from_metric and getattr(self, "_is_graph_network", False) and not call_context.in_call:
            raise ValueError(
                "A functional model takes the tensor itself that is to be reported, not what a `Metric` made of it."
            )
        if from_metric:
            name = value._metric_obj.name
        elif aggregation is None:
            raise ValueError(
                f"{value} isn't what a `Metric` object gave: pass aggregation='mean', to report its mean over the batches."
            )
        if not isinstance(value, Tensor) and not executing_eagerly():
            raise ValueError(f"A metric is a tensor of the graph; `add_metric` was given {value!r}.")
        if from_metric:
            if all(value._metric_obj is not known for known in self._metrics):
                self._metrics.append(value._metric_obj)
            self._metrics_tensors[name] = value
            return
        if self._hangs_on_graph():
            self._graph_network_add_metric(value, aggregation, name)
            return
        known = next((m for m in self._metrics if m.name == name), None)
        if known is None:
            known = known_class("Mean")(name=name, dtype=value.dtype)
            self._metrics.append(known)
        if not _is_for_replicas():
            self._metrics_tensors[name] = known(value)


def runs_at_once():
    """Whether nobody needs to keep updates: what runs eagerly has run, and a function runs all that it is made of."""
    return executing_eagerly_outside_functions() and not in_symbolic_graph()


def _refuse_branches(method, of_functions=False):
    """What branches and loops add would be of the one that runs, and a model that is drawn has no such thing."""
    graph = get_default_graph()
    is_part = isinstance(graph, PartGraph)
    if is_part and of_functions and executing_eagerly_outside_functions():
        refused = True
    else:
        refused = in_symbolic_graph() and (is_part or graph._get_control_flow_context() is not None)
    if refused:
        raise RuntimeError(
            f"`{method}` is called inside of a branch or a loop that is drawn in the graph of the model. Call it outside of it, "
            "with a value that the branch gives, or make the layer with `dynamic=True`, for eager execution."
        )


def _is_for_replicas():
    """Whether a strategy has replicas that will compute what is drawn here each for itself."""
    frame = strategy_context.current()
    if frame is None or frame.replica_context is not None or frame.strategy.extended._has_replicas_elsewhere:
        return False
    return frame.strategy.num_replicas_in_sync > 1


def _tagged_function(make, unconditional):
    def tagged():
        with get_default_graph().as_default():
            loss = make()
        if loss is None:
            return None
        if not isinstance(loss, Tensor):
            loss = convert_to_tensor(loss)
        loss._unconditional_loss = unconditional
        return loss

    return tagged


def _depending(things, tag, inputs):
    """Those of losses or updates that depend on inputs; for None those that depend on none, which have the tag."""
    if inputs is None:
        return [thing for thing in things if getattr(thing, tag, False)]
    return reachable(nest.flatten(inputs), [thing for thing in things if not getattr(thing, tag, False)])


def reachable(inputs, targets):
    """Those of `targets` (tensors or operations) that depend on one of the tensors `inputs`."""
    waiting = [t.op for t in inputs if hasattr(t, "op")]
    seen = set(waiting)
    while waiting:
        op = waiting.pop()
        after = [consumer for output in op.outputs for consumer in output.consumers()] + list(op._control_outputs)
        for consumer in after:
            if consumer not in seen:
                seen.add(consumer)
                waiting.append(consumer)
    return [t for t in targets if (t if isinstance(t, Operation) else t.op) in seen]


@contextlib.contextmanager
def as_before(layer):
    """A context after which a layer has forgotten the losses and updates that calls in it added."""
    layers = [inner for inner in [layer, *layer.submodules] if hasattr(inner, "_updates")]
    lists = ("_losses", "_eager_losses", "_updates", "_metrics")
    kept = [(inner, [list(getattr(inner, name)) for name in lists], dict(inner._metrics_tensors)) for inner in layers]
    for inner in layers:
        inner._losses[:] = inner._eager_losses[:] = []
    try:
        yield
    finally:
        for inner, values, tensors in kept:
            for name, value in zip(lists, values):
                getattr(inner, name)[:] = value
            inner._metrics_tensors.clear()
            inner._metrics_tensors.update(tensors)
