"""The base of Keras's optimizers: hyperparameters that can change while training, slots, and updates of weights."""

from __future__ import annotations

import contextlib
import functools
import inspect

from everflow.framework import attachments, dtypes, nest, strategy_context
from everflow.framework import raw_ops as raw
from everflow.framework.composites import IndexedSlices
from everflow.framework.operation import Tensor
from everflow.framework.scopes import (
    colocate_with,
    control_dependencies,
    device,
    executing_eagerly,
    init_scope,
    name_scope,
)
from everflow.keras import backend as K
from everflow.keras import initializers
from everflow.keras.engine import workers
from everflow.keras.engine.base_layer import resolve_trainable, set_values, snake_case
from everflow.keras.optimizers import schedules
from everflow.ops import array, math
from everflow.ops.control_flow.grouping import group
from everflow.ops.gradients import reverse as gradient_ops
from everflow.ops.gradients.tape import GradientTape
from everflow.ops.math.clip import clip_by_norm, clip_by_value
from everflow.ops.variables.trackable import Trackable
from everflow.ops.variables.variable import Variable, VariableAggregation, VariableSynchronization
from everflow.platform import logging
from everflow.train.loss_scale import SCALING

_CLIPS = {"clipnorm", "clipvalue"}
_ARGUMENTS = {*_CLIPS, "lr", "decay"}


class Optimizer(Trackable):
    """Base of optimizers. A subclass sets its hyperparameters with `_set_hyper`, makes slots in `_create_slots`, and returns
    ops that update a variable from `_resource_apply_dense` and `_resource_apply_sparse`.

    Args:
        name: What the operations' names start with; by default the name of the class, in small letters.
        **kwargs: `clipnorm`, `clipvalue`, and `lr` and `decay` as older programs have them.

    Example:
        >>> isinstance(tf.keras.optimizers.SGD(), tf.keras.optimizers.Optimizer)
        True
    """

    # What `get_config` writes down besides the name: hyperparameters, then arguments and the attributes that keep them.
    _written_hypers: tuple = ()
    _written_attributes: dict = {}

    def __init__(self, name, **kwargs):
        for keyword, value in kwargs.items():
            if keyword not in _ARGUMENTS:
                raise TypeError(f"Unexpected keyword argument passed to optimizer: {keyword}")
            if value < 0:
                raise ValueError(f"Expected {keyword} >= 0, received: {value}")
        self._use_locking = True
        self._name = name or K.unique_object_name(snake_case(type(self).__name__), zero_based=True)
        self._hyper = {}
        self._hypers_created = False
        self._slots = {}
        self._slot_names = []
        self._weights = []
        self._iterations = None
        self._initial_decay = kwargs.pop("decay", 0.0)
        for clip in _CLIPS & set(kwargs):
            setattr(self, clip, kwargs[clip])

    # --- hyperparameters --------------------------------------------------------------------

    def __getattr__(self, name):
        # Called for what isn't an attribute: hyperparameters are, under their names, and `lr` is an old name of one.
        hyper = self.__dict__.get("_hyper", {})
        wanted = "learning_rate" if name == "lr" else name
        if wanted in hyper:
            return self._get_hyper(wanted)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name, value):
        if name == "lr":
            name = "learning_rate"
        if name in self.__dict__.get("_hyper", {}):
            self._set_hyper(name, value)
        else:
            super().__setattr__(name, value)

    def _set_hyper(self, name, value):
        """Set a hyperparameter: to a number, a function without arguments, a tensor or a schedule."""
        before = self._hyper.get(name)
        fixed = isinstance(before, (Tensor, int, float, schedules.LearningRateSchedule)) or callable(before)
        if before is None or fixed or isinstance(value, schedules.LearningRateSchedule):
            self._hyper[name] = value
        else:
            K.set_value(before, value)

    def _set_hypers(self, learning_rate, **others):
        """Set the learning rate, its decay, and what else an optimizer has."""
        for name, value in {"learning_rate": learning_rate, "decay": self._initial_decay, **others}.items():
            self._set_hyper(name, value)

    def _get_hyper(self, name, dtype=None):
        if not self._hypers_created:
            self._create_hypers()
        value = self._hyper[name]
        if isinstance(value, schedules.LearningRateSchedule):
            return value
        if callable(value):
            value = value()
        return math.cast(value, dtype) if dtype else value

    def _create_hypers(self):
        """Numbers become variables, so that they can be changed while training."""
        if self._hypers_created:
            return
        for name, value in sorted(self._hyper.items()):
            if not (isinstance(value, (Tensor, Variable)) or callable(value)):
                self._hyper[name] = self.add_weight(name, shape=[], trainable=False, initializer=value)
        self._hypers_created = True

    def _serialize_hyperparameter(self, name):
        value = self._hyper[name]
        if isinstance(value, schedules.LearningRateSchedule):
            return schedules.serialize(value)
        if callable(value):
            return value()
        if isinstance(value, (Tensor, Variable)):
            return K.get_value(value)
        return value

    def _decayed_lr(self, dtype):
        """The learning rate of this step."""
        rate = self._get_hyper("learning_rate", dtype)
        if isinstance(rate, schedules.LearningRateSchedule):
            rate = math.cast(rate(math.cast(self.iterations, dtype)), dtype)
        if not self._initial_decay > 0.0:
            return rate
        steps = math.cast(self.iterations, dtype)
        return rate / (1.0 + self._get_hyper("decay", dtype) * steps)

    # --- variables --------------------------------------------------------------------------

    def add_weight(
        self,
        name,
        shape,
        dtype=None,
        initializer="zeros",
        trainable=None,
        synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE,
    ):
        """A variable of the optimizer."""
        dtype = dtypes.as_dtype(dtypes.float32 if dtype is None else dtype)
        if isinstance(initializer, str) or callable(initializer):
            initializer = initializers.get(initializer)
            if isinstance(initializer, type):
                initializer = initializer(dtype=dtype)
            initial_value = functools.partial(initializer, shape, dtype=dtype)
        else:
            initial_value = initializer
        trainable = resolve_trainable(trainable, synchronization)
        made = {"name": name, "dtype": dtype, "trainable": trainable}
        replicated = {"synchronization": synchronization, "aggregation": aggregation}
        variable = Variable(initial_value, use_resource=True, **made, **replicated)
        K.track_variable(variable)
        return variable

    @property
    def iterations(self):
        """The variable that counts steps."""
        if self._iterations is None:
            counted = {"trainable": False, "aggregation": VariableAggregation.ONLY_FIRST_REPLICA}
            self._iterations = self.add_weight("iter", shape=[], dtype=dtypes.int64, **counted)
            self._weights.append(self._iterations)
        return self._iterations

    @iterations.setter
    def iterations(self, variable):
        if self._iterations is not None:
            raise RuntimeError(
                f"{self._name} has a variable that counts its steps already: `iterations` can be set only before."
            )
        self._iterations = variable
        self._weights.append(variable)

    def add_slot(self, var, slot_name, initializer="zeros"):
        """A variable of the shape of `var` that is kept for it."""
        if slot_name not in self._slot_names:
            self._slot_names.append(slot_name)
        slots = self._slots.setdefault(_var_key(var), {})
        if slot_name not in slots:
            if isinstance(initializer, str) or callable(initializer):
                initializer = functools.partial(
                    initializers.get(initializer), shape=var.shape, dtype=var.dtype.base_dtype
                )
            with colocate_with(var):
                made = {
                    "name": f"{_slots_prefix(var)}/{slot_name}",
                    "dtype": var.dtype.base_dtype,
                    "trainable": False,
                }
                slot = Variable(initializer, use_resource=True, **made)
            K.track_variable(slot)
            slots[slot_name] = slot
            self._weights.append(slot)
            attachments.joined(self)
        return slots[slot_name]

    def _take_slot(self, var, slot_name, value):
        """Keep a value from a checkpoint for `var`, before a step makes the slot."""
        self.add_slot(var, slot_name, initializer=value)

    def get_slot(self, var, slot_name):
        """The variable of this name that is kept for `var`."""
        return self._slots[_var_key(var)][slot_name]

    def get_slot_names(self):
        """The names of slots."""
        return self._slot_names

    def _create_slots(self, var_list):
        """Make what is kept for each variable."""

    def _make_variables(self, var_list):
        """Make the count of steps, what is set, and what is kept for each variable."""
        _ = self.iterations
        self._create_hypers()
        self._create_slots(var_list)
        attachments.joined(self)

    def _add_slots(self, var_list, *slot_names):
        for slot_name in slot_names:
            for var in var_list:
                self.add_slot(var, slot_name)

    weights = property(lambda self: self._weights, doc="The variables of the optimizer, in the order of their making.")

    def variables(self):
        """The variables of the optimizer, in the order of their making."""
        return self._weights

    def get_weights(self):
        """The values of the optimizer's variables."""
        return K.batch_get_value(self.weights)

    def set_weights(self, weights):
        """Set the optimizer's variables, from what `get_weights` gave."""
        set_values(f"optimizer {self._name}", self.weights, weights)

    # --- gradients and updates --------------------------------------------------------------

    def _clipped(self, grads):
        if hasattr(self, "clipnorm"):
            grads = [None if g is None else clip_by_norm(g, self.clipnorm) for g in grads]
        if hasattr(self, "clipvalue"):
            grads = [None if g is None else clip_by_value(g, -self.clipvalue, self.clipvalue) for g in grads]
        return grads

    def minimize(self, loss, var_list, grad_loss=None, name=None):
        """Compute the gradients of a loss, a function without arguments, and apply them."""
        return self.apply_gradients(self._compute_gradients(loss, var_list=var_list, grad_loss=grad_loss), name=name)

    def _compute_gradients(self, loss, var_list, grad_loss=None):
        grads, var_list = _tape_gradients(loss, var_list, grad_loss, self._name)
        grads_and_vars = list(zip(self._clipped(grads), var_list))
        self._assert_valid_dtypes([v for g, v in grads_and_vars if g is not None and v.dtype != dtypes.resource])
        return grads_and_vars

    def get_gradients(self, loss, params):
        """The gradients of a loss with respect to variables; ValueError where there is none."""
        params = nest.flatten(params)
        with K.get_graph().as_default(), name_scope(self._name + "/gradients"):
            grads = gradient_ops.gradients(loss, params)
            for grad, param in zip(grads, params):
                if grad is None:
                    raise ValueError(
                        f"Variable {param} has `None` for gradient: the loss doesn't depend on it, or only by way of operations that "
                        "can't be differentiated, such as K.argmax and K.round."
                    )
            return self._clipped(grads)

    def get_updates(self, loss, params):
        """A list of ops that make one step."""
        grads_and_vars = list(zip(workers.means(self.get_gradients(loss, params)), params))
        self._assert_valid_dtypes([v for _, v in grads_and_vars])
        return [self.apply_gradients(grads_and_vars)]

    def apply_gradients(self, grads_and_vars, name=None):
        """An op that updates variables from pairs (gradient, variable) and counts the step."""
        grads_and_vars = _filter_grads(grads_and_vars)
        var_list = [v for _, v in grads_and_vars]
        with name_scope(self._name):
            with init_scope():
                self._make_variables(var_list)
            frame = strategy_context.current()
            if frame is not None and frame.replica_context is not None and frame.strategy.num_replicas_in_sync > 1:
                return frame.replica_context.merge_call(self._apply_sums, args=(grads_and_vars, name))
            self._prepare(var_list)
            return self._apply(grads_and_vars, name)

    def _apply_sums(self, strategy, grads_and_vars, name):
        """Across replicas: one step, in which each copy of a variable gets the sum of all gradients."""
        variables = [var for _, var in grads_and_vars]
        sums = strategy.extended.batch_reduce_to("SUM", grads_and_vars)
        self._prepare(variables)

        def update(copy, grad):
            return self._update(grad, copy)

        made = []
        with name_scope(name or self._name):
            for var, total in zip(variables, sums):
                with name_scope(_update_name(var)):  # each copy is updated on its own device
                    made += strategy.extended.update(var, update, args=(total,), group=False)
            return self._counted(made)

    def _apply(self, grads_and_vars, name):
        updates = []
        with name_scope(name or self._name):
            for grad, var in grads_and_vars:
                with _update_scope(var):
                    updates.append(self._update(grad, var))
                updates += _copied(var, updates[-1])
            return self._counted(updates)

    def _counted(self, updates):
        """Count the step, after its updates."""
        if executing_eagerly():
            return self._iterations.assign_add(1)
        with control_dependencies([update for update in updates if update is not None]):
            counted = self._iterations.assign_add(1)
            return counted.op if hasattr(counted, "op") else group(*counted.values)

    def _update(self, grad, var):
        if isinstance(var, Tensor):
            raise NotImplementedError(f"Only variables can be updated, and this is a tensor: {var}")
        if isinstance(grad, IndexedSlices):
            if var.constraint is not None:
                raise RuntimeError(
                    f"{var.name} has a constraint, which can't be kept when only some of its rows are updated (a sparse gradient)."
                )
            told = self._told(self._resource_apply_sparse)
            return _as_op(self._resource_apply_sparse_duplicate_indices(grad.values, var, grad.indices, **told))
        update = self._resource_apply_dense(grad, var, **self._told(self._resource_apply_dense))
        if var.constraint is None:
            return _as_op(update)
        with control_dependencies([] if update is None else [update]):
            return _as_op(var.assign(var.constraint(var)))

    def _told(self, apply):
        """What was prepared, for a method of a program's own that takes it."""
        return {"apply_state": self._prepared} if _takes_state(getattr(apply, "__func__", apply)) else {}

    def _prepare(self, var_list):
        """{(device, dtype): {name: value}}: what is the same for all variables of a device and dtype, computed once."""
        self._prepared = {}
        for var in var_list:
            for place in getattr(var, "devices", [var.device]):
                self._prepare_for(place, var.dtype.base_dtype, self._prepared)
        return self._prepared

    def _prepare_for(self, var_device, dtype, apply_state):
        if (var_device, dtype) not in apply_state:
            apply_state[var_device, dtype] = {}
            with device(var_device):
                self._prepare_local(var_device, dtype, apply_state)

    def _prepare_local(self, var_device, var_dtype, apply_state):
        """Add what updates of variables of a device and dtype need; subclasses add more."""
        if "learning_rate" in self._hyper:
            apply_state[var_device, var_dtype]["lr_t"] = array.identity(self._decayed_lr(var_dtype))

    def _fallback_apply_state(self, var_device, var_dtype):
        """The same for a device and dtype that nobody prepared for."""
        apply_state: dict = {}
        self._prepare_for(var_device, var_dtype, apply_state)
        return apply_state[var_device, var_dtype]

    def _op_arguments(self, grad, var, slots, rates, **more):
        """What an op that updates a variable takes; `slots` and `rates` have our names by those of the op."""
        known = self._coefficients(var)
        handles = {argument: self.get_slot(var, slot).handle for argument, slot in slots.items()}
        rates = {argument: known[name] for argument, name in {"lr": "lr_t", **rates}.items()}
        return {"var": var.handle, **handles, **rates, "grad": grad, "use_locking": self._use_locking, **more}

    def _coefficients(self, var):
        """What `_prepare_local` computed for the device and dtype of a variable."""
        kind = var.device, var.dtype.base_dtype
        return self._prepared.get(kind) or self._fallback_apply_state(*kind)

    def _resource_apply_dense(self, grad, handle):
        """An op that updates a variable from a gradient."""
        raise NotImplementedError

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices, **kwargs):
        """An op that updates rows of a variable; gradients of a row that is there several times are added up."""
        summed, rows = _deduplicate_indexed_slices(grad, indices)
        return self._resource_apply_sparse(summed, handle, rows, **kwargs)

    def _resource_apply_sparse(self, grad, handle, indices):
        """An op that updates rows of a variable, each of which is there once."""
        raise NotImplementedError

    def _resource_scatter_add(self, x, i, v):
        with control_dependencies([raw.ResourceScatterAdd(resource=x.handle, indices=i, updates=v)]):
            return x.value()

    def _decay_and_add(self, slot, decay, part, indices):
        """A slot times a decay, with `part` added to some of its rows."""
        with control_dependencies([slot.assign(slot * decay, use_locking=self._use_locking)]):
            return self._resource_scatter_add(slot, indices, part)

    def _resource_scatter_update(self, x, i, v):
        with control_dependencies([raw.ResourceScatterUpdate(resource=x.handle, indices=i, updates=v)]):
            return x.value()

    def _valid_dtypes(self):
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128}

    def _assert_valid_dtypes(self, variables):
        valid = self._valid_dtypes()
        for variable in variables:
            if variable.dtype.base_dtype not in valid:
                wanted = ", ".join(sorted(repr(dtype) for dtype in valid))
                raise ValueError(
                    f"Invalid type {variable.dtype.base_dtype!r} for {variable.name}, expected: [{wanted}]."
                )

    def _with_loss_scale(self, loss_scale):
        """This optimizer, for losses that are scaled."""
        return SCALING[Optimizer](self, loss_scale)

    # --- as data ----------------------------------------------------------------------------

    def get_config(self):
        """The arguments that make this optimizer again."""
        config = {"name": self._name, **{clip: getattr(self, clip) for clip in sorted(_CLIPS) if hasattr(self, clip)}}
        config |= {name: self._serialize_hyperparameter(name) for name in self._written_hypers}
        return config | {name: getattr(self, attribute) for name, attribute in self._written_attributes.items()}

    @classmethod
    def _bring_up_to_date(cls, config):
        """Rename what older programs wrote, in place: programs look at the configuration afterwards."""
        if "lr" in config:
            config["learning_rate"] = config.pop("lr")

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """An optimizer from what `get_config` gave."""
        cls._bring_up_to_date(config)
        config = dict(config)
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = schedules.deserialize(config["learning_rate"], custom_objects=custom_objects)
        return cls(**config)

    def _saved_identity(self):
        return "optimizer", ""

    def _checkpoint_children(self):
        hypers = [(name, value) for name, value in sorted(self._hyper.items()) if isinstance(value, Variable)]
        return [("iter", self._iterations), *hypers] if self._iterations is not None else hypers


# Its name where programs import it from inside TensorFlow.
OptimizerV2 = Optimizer


def _copied(var, update):
    """Ops that give the copies of a variable on other devices what its first one, which was updated, holds."""
    first, *others = getattr(var, "values", None) or [None]
    if not others:
        return []
    with control_dependencies([] if update is None else [update]):
        return [_as_op(other.assign(first.read_value())) for other in others]


def is_used(momentum):
    """Whether there is momentum: a tensor, a function or a number above zero; ValueError unless that is within [0, 1]."""
    if isinstance(momentum, Tensor) or callable(momentum):
        return True
    if isinstance(momentum, (int, float)) and not 0 <= momentum <= 1:
        raise ValueError(f"`momentum` must be between [0, 1], not {momentum}.")
    return bool(momentum > 0)


@contextlib.contextmanager
def _update_scope(var):
    """A context for what updates a variable: a name for it, on its device."""
    with name_scope(_update_name(var)), colocate_with(var):
        yield


def _update_name(var):
    return "update" if executing_eagerly() else "update_" + var.op.name


def _first_copy(var):
    """The variable itself, or the first of its copies, where it has several."""
    holder = getattr(var, "_distributed_container", None) or var
    return getattr(holder, "primary", var)


def _made_eagerly(var):
    return getattr(getattr(var, "handle", None), "is_eager", False)


def _var_key(var):
    """What slots of a variable are kept under: eagerly, several variables may have one name."""
    var = _first_copy(var)
    return var._unique_id if _made_eagerly(var) else var.op.name


def _slots_prefix(var):
    """What the names of a variable's slots begin with."""
    var = _first_copy(var)
    return var._shared_name if _made_eagerly(var) else var.op.name


def _as_op(update):
    """The op of an update: what an assign returns would read the variable once more."""
    return getattr(update, "op", update) if not executing_eagerly() else None


def _deduplicate_indexed_slices(values, indices):
    """(values, indices) in which each index is there once, with the sum of what was there for it."""
    rows, positions = array.unique(indices)
    return math.unsorted_segment_sum(values, positions, array.shape(rows)[0]), rows


@functools.lru_cache(maxsize=256)
def _takes_state(apply):
    return "apply_state" in inspect.signature(apply).parameters


def _filter_grads(grads_and_vars):
    """The pairs that have a gradient; ValueError where none has."""
    grads_and_vars = tuple(grads_and_vars)
    if not grads_and_vars:
        return grads_and_vars
    kept = tuple((grad, var) for grad, var in grads_and_vars if grad is not None)
    if not kept:
        raise ValueError(f"No gradients provided for any variable: {[v.name for _, v in grads_and_vars]}.")
    missing = [var.name for grad, var in grads_and_vars if grad is None]
    if missing:
        logging.warning(
            "Gradients do not exist for variables %s: the loss doesn't depend on them, and they stay as they are.",
            missing,
        )
    return kept


def _tape_gradients(loss, var_list, grad_loss, name):
    """Gradients of what a function computes, and the list of variables, which may be a function too."""
    with GradientTape() as tape:
        if not callable(var_list):
            tape.watch(var_list)
        value = loss()
    var_list = nest.flatten(var_list() if callable(var_list) else var_list)
    with name_scope(name + "/gradients"):
        return tape.gradient(value, var_list, grad_loss), var_list
