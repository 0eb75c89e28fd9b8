"""`tf.train.Optimizer`: gradients of a loss and the updates they make, with slots beside each variable."""

from __future__ import annotations

import functools

from everflow.framework import attachments, dtypes, nest, op_defs
from everflow.framework import raw_ops as raw
from everflow.framework import strategy_context as distribution
from everflow.framework.composites import IndexedSlices
from everflow.framework.conversion import convert_to_tensor, convert_to_tensor_or_indexed_slices
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.operation import Tensor
from everflow.framework.scopes import (
    colocate_with,
    control_dependencies,
    executing_eagerly,
    get_collection,
    get_collection_ref,
    get_default_graph,
    init_scope,
    name_scope,
)
from everflow.ops import array
from everflow.ops.control_flow import grouping
from everflow.ops.gradients import reverse as gradients
from everflow.ops.gradients.tape import GradientTape
from everflow.ops.math import cast, unsorted_segment_sum
from everflow.ops.variables import assign as state
from everflow.ops.variables import variable as variables
from everflow.ops.variables.resource import is_resource_variable
from everflow.ops.variables.trackable import Trackable
from everflow.platform.signatures import parameters, takes
from everflow.train import slot_creator


class _Target:
    """One variable as an optimizer sees it: what is differentiated, and which method applies a gradient."""

    def __init__(self, variable):
        self.variable = variable
        if isinstance(variable, Tensor):
            self.differentiated = variable
        elif isinstance(variable, variables.Variable):
            self.differentiated = variable.handle if is_resource_variable(variable) else variable._ref()
        else:
            raise NotImplementedError("Trying to optimize unsupported type ", variable)

    def update(self, optimizer, grad):
        variable = self.variable
        if isinstance(variable, Tensor):
            raise NotImplementedError("Trying to update a Tensor ", variable)
        if isinstance(grad, IndexedSlices):
            if variable.constraint is not None:
                raise RuntimeError(
                    f"Cannot use a constraint function with sparse gradients, as {variable.name} has them"
                )
            if is_resource_variable(variable):
                return optimizer._resource_apply_sparse_duplicate_indices(grad.values, variable, grad.indices)
            return optimizer._apply_sparse_duplicate_indices(grad, variable)
        if is_resource_variable(variable):
            update = optimizer._resource_apply_dense(grad, variable)
        else:
            update = optimizer._apply_dense(grad, variable)
        if variable.constraint is None:
            return update
        with control_dependencies([update]):
            return variable.assign(variable.constraint(variable))


def _variable_key(variable):
    holder = getattr(variable, "_distributed_container", None) or variable
    variable = getattr(holder, "primary", holder)  # all copies share their slots' name
    graph = variable.op.graph
    return id(variable.op) if graph.executes else (graph, variable.op.name)


def _deduplicate_indexed_slices(values, indices):
    """(values, indices) with the values of equal indices summed."""
    unique_indices, positions = array.unique(indices)
    return unsorted_segment_sum(values, positions, array.shape(unique_indices)[0]), unique_indices


def _check_any_gradient(grads_and_vars):
    if all(g is None for g, _ in grads_and_vars):
        raise ValueError(f"No gradients provided for any variable: {[str(v) for _, v in grads_and_vars]}.")


def _as_train_op(op):
    """An operation, which is one of the graph's training ops from now on."""
    train_ops = get_collection_ref(GraphKeys.TRAIN_OP)
    if op not in train_ops:
        train_ops.append(op)
    return op


# The parameters of `compute_gradients`; 1 is GATE_OP.
_GRADIENT_PARAMETERS = parameters(
    """loss, var_list=None, gate_gradients=1, aggregation_method=None, colocate_gradients_with_ops=False,
    grad_loss=None"""
)


class Optimizer(Trackable):
    """Base class of optimizers. A subclass says in `_create_slots`, `_prepare`, `_apply_dense`, `_apply_sparse`,
    `_resource_apply_dense`, `_resource_apply_sparse` and `_finish` what it keeps and how it updates.

    Args:
        use_locking: Whether others wait until an update of a variable is done.
        name: What the operations' names start with.

    Example:
        >>> w = tf.Variable(2.0)
        >>> optimizer = tf.train.GradientDescentOptimizer(0.1)
        >>> (gradient, variable), = optimizer.compute_gradients(tf.square(w))
        >>> step = optimizer.apply_gradients([(tf.clip_by_value(gradient, -1.0, 1.0), variable)])
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(step)
        >>> sess.run(w)
        np.float32(1.9)
    """

    # A slot gives the class a layout of its own: so it is the `__base__` of optimizers that have a mixin as well.
    __slots__ = ("_use_locking",)

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking, name):
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        # Slot name → variable → slot; and variables of the optimizer itself, by name and graph.
        self._slots: dict = {}
        self._non_slot_dict: dict = {}

    def get_name(self):
        """The name given to the constructor."""
        return self._name

    # --- what programs call ------------------------------------------------------------------

    @takes(
        """loss, global_step=None, var_list=None, gate_gradients=GATE_OP, aggregation_method=None,
        colocate_gradients_with_ops=False, name=None, grad_loss=None""",
        GATE_OP=GATE_OP,
    )
    def minimize(self, loss, global_step, name, **options):
        """An operation that changes variables so that `loss` gets smaller, and counts `global_step` up."""
        grads_and_vars = self.compute_gradients(loss, **options)
        if all(g is None for g, _ in grads_and_vars):
            raise ValueError(
                f"No gradients provided for any variable: {loss} depends on none of {[str(v) for _, v in grads_and_vars]}, or only "
                "by way of ops without a gradient"
            )
        return self.apply_gradients(grads_and_vars, global_step=global_step, name=name)

    @takes(_GRADIENT_PARAMETERS)
    def compute_gradients(self, loss, **options):
        """A list of (gradient, variable); a gradient may be None."""
        return self._found_gradients(loss, **options)

    def _found_gradients(
        self,
        loss,
        var_list,
        gate_gradients,
        aggregation_method,
        colocate_gradients_with_ops,
        grad_loss,
        stop_gradients=None,
        scaled=True,
    ):
        if executing_eagerly() or callable(loss):
            return self._gradients_by_tape(loss, var_list, grad_loss, scaled)
        if scaled:
            loss = distribution.scaled_for_replicas(loss)
        if gate_gradients not in (Optimizer.GATE_NONE, Optimizer.GATE_OP, Optimizer.GATE_GRAPH):
            raise ValueError(
                f"gate_gradients must be one of GATE_NONE (0), GATE_OP (1) and GATE_GRAPH (2), not {gate_gradients}"
            )
        self._assert_valid_dtypes([loss])
        if grad_loss is not None:
            self._assert_valid_dtypes([grad_loss])
        if var_list is None:
            var_list = variables.trainable_variables() + get_collection(GraphKeys.TRAINABLE_RESOURCE_VARIABLES)
        else:
            var_list = nest.flatten(var_list)
        var_list = var_list + get_collection(GraphKeys._STREAMING_MODEL_PORTS)
        across_replicas = distribution.has_strategy() and distribution.in_cross_replica_context()
        if across_replicas and any(hasattr(v, "primary") for v in var_list):
            raise ValueError(
                "Gradients of a strategy's variables are computed in a replica function: see `experimental_run_v2`."
            )
        targets = [_Target(v) for v in var_list]
        if not var_list:
            raise ValueError("No variables to optimize.")
        how = {"aggregation_method": aggregation_method, "colocate_gradients_with_ops": colocate_gradients_with_ops}
        how |= {"gate_gradients": gate_gradients == Optimizer.GATE_OP, "stop_gradients": stop_gradients}
        grads = gradients.gradients(loss, [t.differentiated for t in targets], grad_ys=grad_loss, **how)
        if gate_gradients == Optimizer.GATE_GRAPH:
            grads = grouping.tuple(grads)
        found = list(zip(grads, var_list, strict=True))
        self._assert_valid_dtypes([v for g, v in found if g is not None and v.dtype != dtypes.resource])
        return found

    def _gradients_by_tape(self, loss, var_list, grad_loss, scaled=True):
        """Gradients of a loss that is given as a function."""
        if not callable(loss):
            raise RuntimeError(
                f"`loss` should be a function when eager execution makes no graph, one that computes it, not {loss!r}"
            )
        with GradientTape() as tape:
            if var_list is not None:
                tape.watch(var_list)
            value = loss()
            if not executing_eagerly():
                get_default_graph().as_graph_element(value)  # a number has no gradients
            if scaled:
                value = distribution.scaled_for_replicas(value)
        if var_list is None:
            var_list = tape.watched_variables()
        var_list = nest.flatten(var_list)
        grads = tape.gradient(value, var_list, None if grad_loss is None else [grad_loss])
        return list(zip(grads, var_list, strict=True))

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An operation that updates each variable with its gradient, and counts `global_step` up."""
        grads_and_vars = tuple(grads_and_vars)
        if not grads_and_vars:
            raise ValueError("No variables provided.")
        if distribution.has_strategy():
            return self._apply_in_all_replicas(grads_and_vars, global_step, name)
        converted = [(self._converted(g), v, _Target(v)) for g, v in grads_and_vars]
        _check_any_gradient(grads_and_vars)
        var_list = [v for g, v, _ in converted if g is not None]
        with init_scope():
            self._create_slots(var_list)
            attachments.joined(self)
        update_ops = []
        with name_scope(name, self._name) as name:
            self._prepare()
            for grad, variable, target in converted:
                if grad is None:
                    continue
                with name_scope("update_" + variable.op.name), colocate_with(variable.op):
                    update_ops.append(target.update(self, grad))
            if global_step is None:
                apply_updates = self._finish(update_ops, name)
            else:
                apply_updates = self._finish_and_count(update_ops, global_step, name)
            if executing_eagerly():
                return None
            return _as_train_op(apply_updates.op if isinstance(apply_updates, Tensor) else apply_updates)

    # --- under a tf.distribute.Strategy ------------------------------------------------------

    def _apply_in_all_replicas(self, grads_and_vars, global_step, name):
        """Meet the other replicas, and apply the sum of all gradients to every copy of the variables."""
        if distribution.in_cross_replica_context():
            raise RuntimeError(
                "In cross-replica context, `_distributed_apply()` takes the place of `apply_gradients()`"
            )
        _check_any_gradient(grads_and_vars)
        present = [(g, v) for g, v in grads_and_vars if g is not None]
        return distribution.current().replica_context.merge_call(
            self._distributed_apply, args=(present, global_step, name)
        )

    def _distributed_apply(self, strategy, grads_and_vars, global_step=None, name=None):
        """As `apply_gradients`, for gradients and variables that have a part for each replica."""
        extended = strategy.extended
        grads = extended.batch_reduce_to("SUM", grads_and_vars)
        var_list = [v for _, v in grads_and_vars]
        with init_scope():
            self._create_slots(var_list)
        with name_scope(name, self._name) as name:
            self._prepare()

            def update(variable, grad):
                with name_scope("update_" + variable.op.name), colocate_with(variable.op):
                    return _Target(variable).update(self, self._converted(grad))

            pairs = zip(grads, var_list, strict=True)
            updates = [op for g, v in pairs for op in extended.update(v, update, args=(g,), group=False)]

            def finish():
                return self._finish(updates, "update")

            finished = extended.update_non_slot(extended.non_slot_devices(var_list), finish, group=False)
            if global_step is None:
                return _as_train_op(grouping.group(*finished, name=name))
            with control_dependencies(finished):
                if extended.variable_created_in_scope(global_step):
                    counted = extended.update(global_step, lambda v: v.assign_add(1))
                else:  # one count, which Keras keeps for all replicas
                    counted = global_step.assign_add(1)
            return _as_train_op(counted)

    def _finish_and_count(self, update_ops, global_step, name):
        with control_dependencies([self._finish(update_ops, "update")]), colocate_with(global_step.op):
            if is_resource_variable(global_step):
                return raw.AssignAddVariableOp(
                    global_step.handle, convert_to_tensor(1, dtype=global_step.dtype), name=name
                )
            return state.assign_add(global_step, 1, name=name)

    @staticmethod
    def _converted(grad):
        if grad is None:
            return None
        try:
            return convert_to_tensor_or_indexed_slices(grad)
        except TypeError:
            raise TypeError(f"Gradient must be convertible to a Tensor, be IndexedSlices or None, not {grad}") from None

    # --- slots -------------------------------------------------------------------------------

    def get_slot(self, var, name):
        """The slot of a name that belongs to a variable, or None."""
        slots = self._slots.get(name)
        return slots.get(_variable_key(var)) if slots else None

    def _take_slot(self, var, slot_name, value):
        """Keep a value from a checkpoint for `var`, before a step makes the slot."""
        self._get_or_make_slot(var, value, slot_name, self._name)

    def get_slot_names(self):
        """The names of the slots, sorted."""
        return sorted(self._slots)

    def variables(self):
        """The variables that the optimizer itself has made in the default graph."""
        graph = get_default_graph()
        own = [v for v in self._non_slot_variables() if v.op.graph is graph]
        slots = [v for _, slots in sorted(self._slots.items()) for v in slots.values() if v.op.graph is graph]
        return sorted(own + slots, key=lambda v: v.name)

    def _checkpoint_children(self):
        """Variables that are of no other variable, as powers of Adam's betas, in the default graph."""
        graph = get_default_graph()
        own = [(name, v) for (name, _), v in self._non_slot_dict.items() if v.op.graph is graph]
        return sorted(own, key=lambda child: child[0])

    def _slot_dict(self, slot_name):
        return self._slots.setdefault(slot_name, {})

    def _slot(self, var, slot_name, make):
        """The slot of a variable, made where there is none yet."""
        slots, key = self._slot_dict(slot_name), _variable_key(var)
        if key not in slots:
            slots[key] = make()
        return slots[key]

    def _get_or_make_slot(self, var, val, slot_name, op_name):
        """The slot of a variable, made from a tensor where there is none yet."""
        return self._slot(var, slot_name, lambda: slot_creator.create_slot(var, val, op_name))

    def _get_or_make_slot_with_initializer(self, var, initializer, shape, dtype, slot_name, op_name):
        """The slot of a variable, made with an initializer where there is none yet."""
        make = functools.partial(slot_creator.create_slot_with_initializer, var, initializer, shape, dtype, op_name)
        return self._slot(var, slot_name, make)

    def _zeros_slot(self, var, slot_name, op_name):
        """The slot of a variable, made of zeros where there is none yet."""
        return self._slot(var, slot_name, lambda: slot_creator.create_zeros_slot(var, op_name))

    def _create_non_slot_variable(self, initial_value, name, colocate_with):
        """A variable of the optimizer as a whole, beside a given one; that of this graph where there is one."""
        key = (name, colocate_with.op.graph)
        if key not in self._non_slot_dict:
            with get_default_graph().colocate_with(colocate_with.op):
                self._non_slot_dict[key] = variables.Variable(
                    initial_value, name=name, trainable=False, use_resource=is_resource_variable(colocate_with)
                )
        return self._non_slot_dict[key]

    def _get_non_slot_variable(self, name, graph=None):
        return self._non_slot_dict.get((name, graph))

    def _non_slot_variables(self):
        return self._non_slot_dict.values()

    # --- what subclasses define --------------------------------------------------------------

    def _assert_valid_dtypes(self, tensors):
        valid = self._valid_dtypes()
        for tensor in tensors:
            if tensor.dtype.base_dtype not in valid:
                raise ValueError(
                    f"Invalid type {tensor.dtype.base_dtype!r} for {tensor.name}, expected: {list(valid)}."
                )

    def _valid_dtypes(self):
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    def _call_if_callable(self, param):
        """A hyperparameter, which may be given as a function."""
        return param() if callable(param) else param

    def _create_slots(self, var_list):
        """Make the slots that these variables need."""

    def _prepare(self):
        """Make the tensors that all updates use."""

    def _apply_dense(self, grad, var):
        raise NotImplementedError()

    def _resource_apply_dense(self, grad, handle):
        raise NotImplementedError()

    def _resource_apply_sparse_duplicate_indices(self, grad, handle, indices):
        """Apply slices in which an index may come twice: by default after adding those up."""
        summed, unique_indices = _deduplicate_indexed_slices(values=grad, indices=indices)
        return self._resource_apply_sparse(summed, handle, unique_indices)

    def _resource_apply_sparse(self, grad, handle, indices):
        raise NotImplementedError()

    def _apply_sparse_duplicate_indices(self, grad, var):
        """Apply slices in which an index may come twice: by default after adding those up."""
        summed, unique_indices = _deduplicate_indexed_slices(values=grad.values, indices=grad.indices)
        return self._apply_sparse(
            IndexedSlices(indices=unique_indices, values=summed, dense_shape=grad.dense_shape), var
        )

    def _apply_sparse(self, grad, var):
        raise NotImplementedError()

    def _finish(self, update_ops, name_scope):
        """The operation that stands for all updates."""
        return grouping.group(*update_ops, name=name_scope)


class KernelUpdate:
    """What an optimizer mixes in whose update is one op: `ApplyX`, or its resource and sparse forms.

    `_rule` is the X. `_rule_slots` maps the op's slot inputs to names of slots, `_scalars` its scalar inputs to
    hyperparameters, by the names they have in the graph; values are in attributes called so (`_attributes` has
    exceptions), tensors in those with `_tensor_suffix` added. Slots of `_zero_slots` start at zero.
    """

    _rule: str
    _rule_slots: dict[str, str] = {}
    _rule_tensors: dict[str, str] = {}
    _hyperparameters: tuple[str, ...] = ()
    _attributes: dict[str, str] = {}
    _tensor_suffix = "_tensor"
    _zero_slots: tuple[str, ...] = ()

    def __init_subclass__(cls):
        if scalars := vars(cls).get("_scalars"):
            cls._hyperparameters = tuple(scalars.values())
            attributes = {name: cls._attributes.get(name, f"_{name}") for name in cls._hyperparameters}
            cls._rule_tensors = {given: attributes[name] + cls._tensor_suffix for given, name in scalars.items()}

    def _set(self, **values):
        """Keep the values of hyperparameters, until `_prepare` makes tensors of them."""
        for name, value in values.items():
            setattr(self, self._attribute(name), value)
            setattr(self, self._attribute(name) + self._tensor_suffix, None)

    def _attribute(self, name):
        return self._attributes.get(name, f"_{name}")

    def _prepare(self):
        held = {name: self._attribute(name) for name in self._hyperparameters}
        self._prepare_tensors(
            **{name: (attribute + self._tensor_suffix, getattr(self, attribute)) for name, attribute in held.items()}
        )

    def _create_slots(self, var_list):
        for v in var_list:
            for slot in self._zero_slots:
                self._zeros_slot(v, slot, self._name)

    def _rule_attributes(self):
        """Attributes of the op besides use_locking."""
        return {}

    def _rule_for(self, var):
        """(X, slot inputs, scalar inputs) of the update of one variable."""
        return self._rule, self._rule_slots, self._rule_tensors

    def _scalar(self, name, attribute, dtype):
        """A scalar input of the op, in the variable's type."""
        return cast(getattr(self, attribute), dtype)

    def _tensors_for(self, var, tensors, dtype):
        return {name: self._scalar(name, attribute, dtype) for name, attribute in tensors.items()}

    def _apply_rule(self, var, grad, indices=None):
        resource = is_resource_variable(var)
        rule, slots, tensors = self._rule_for(var)
        op_type = f"{'Resource' if resource else ''}{'' if indices is None else 'Sparse'}Apply{rule}"
        inputs = {"var": var, "grad": grad, "delta": grad, "indices": indices}
        inputs.update((name, self.get_slot(var, slot)) for name, slot in slots.items())
        inputs.update(self._tensors_for(var, tensors, var.dtype.base_dtype))
        if resource:
            inputs = {k: v.handle if is_resource_variable(v) and k in ("var", *slots) else v for k, v in inputs.items()}
        wanted = [inputs[arg.name] for arg in op_defs.get(op_type).inputs]
        result = getattr(raw, op_type)(*wanted, use_locking=self._use_locking, **self._rule_attributes())
        return result if resource else result.op

    def _apply_dense(self, grad, var):
        return self._apply_rule(var, grad)

    def _resource_apply_dense(self, grad, var):
        return self._apply_rule(var, grad)

    def _apply_sparse(self, grad, var):
        return self._apply_rule(var, grad.values, grad.indices)

    def _resource_apply_sparse(self, grad, var, indices):
        return self._apply_rule(var, grad, indices)

    def _prepare_tensors(self, **values):
        """Set attributes to tensors of given values: `_prepare_tensors(learning_rate=0.1)` names the constant so."""
        for name, (attribute, value) in values.items():
            setattr(self, attribute, convert_to_tensor(self._call_if_callable(value), name=name))
