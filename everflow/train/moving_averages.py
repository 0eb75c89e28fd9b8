"""Moving averages of variables and tensors, kept in shadow variables."""

from __future__ import annotations

from everflow.framework import dtypes, strategy_context
from everflow.framework.conversion import convert_to_tensor
from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import add_to_collection, colocate_with, get_default_graph, init_scope, name_scope
from everflow.ops import math
from everflow.ops.control_flow import grouping
from everflow.ops.variables import assign as state
from everflow.ops.variables import initializers
from everflow.ops.variables import variable as variables
from everflow.ops.variables.scope import get_variable, get_variable_scope, variable_scope
from everflow.train import slot_creator


def assign_moving_average(variable, value, decay, zero_debias=True, name=None):
    """Move a variable towards a value: `variable -= (1 - decay) * (variable - value)`.

    With `zero_debias` it keeps a biased average beside it, and corrects for its start at zero.
    """
    with name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        rate = convert_to_tensor(1.0 - decay, name="decay")
        if rate.dtype != variable.dtype.base_dtype:
            rate = math.cast(rate, variable.dtype.base_dtype)
        frame = strategy_context.current()
        if frame is None or frame.strategy._is_default:
            return _moved(variable, value, rate, *_beside(variable, [value, rate], zero_debias), name=scope)

        def move(strategy, variable, value):
            beside = _beside(variable, [value, rate], zero_debias)
            if not hasattr(variable, "distribute_strategy"):
                return _moved(variable, value, rate, *beside, name=scope)

            def one(held, value, *others):
                around = f"{get_default_graph().get_name_scope()}/"
                return _moved(held, value, rate, *others, name=around if others else scope)

            return strategy.extended.update(variable, one, args=(value, *beside))

        def meet(strategy, variable, value):
            return move(strategy, variable, strategy.extended.reduce_to("MEAN", value, variable))

        if frame.replica_context is None:
            return move(frame.strategy, variable, value)
        return frame.replica_context.merge_call(meet, args=(variable, value))


def _beside(variable, values, zero_debias):
    """The variables that are kept beside an average to correct its start: the biased average, and a count of updates."""
    if not zero_debias:
        return ()
    with variable_scope(variable.name[: -len(":0")], values=[variable, *values]):
        with colocate_with(variable.op), init_scope():
            fixed = {"dtype": variable.dtype.base_dtype, "trainable": False}
            zeros = initializers.zeros_initializer()
            biased = get_variable(_unused_name("biased"), variable.get_shape(), initializer=zeros, **fixed)
            return biased, get_variable(_unused_name("local_step"), [], initializer=zeros, **fixed)


def _moved(variable, value, rate, biased=None, count=None, name=None):
    if biased is None:
        return state.assign_sub(variable, (variable - value) * rate, name=name)
    new_biased = state.assign_sub(biased, (biased - value) * rate)
    new_count = state.assign_add(count, 1)
    return state.assign(variable, new_biased / (1 - math.pow(1.0 - rate, new_count)), name=name)


def _unused_name(name):
    """`name`, with a number where the scope has such a variable and does not reuse it."""
    scope = get_variable_scope()
    if scope.reuse:
        return name
    taken = {v.op.name for v in scope.global_variables()}
    full_name = f"{scope.name}/{name}"
    if full_name not in taken:
        return name
    index = 1
    while f"{full_name}_{index}" in taken:
        index += 1
    return f"{name}_{index}"


def _average_like(name, value, collections):
    zeros, shape = initializers.zeros_initializer(), value.get_shape()
    return get_variable(name, shape, value.dtype, zeros, trainable=False, collections=collections)


def weighted_moving_average(value, decay, weight, truediv=True, collections=None, name=None):
    """The moving average of `value * weight` over that of `weight`."""
    if collections is None:
        collections = [GraphKeys.GLOBAL_VARIABLES]
    with variable_scope(name, "WeightedMovingAvg", [value, weight, decay]) as scope:
        total = _average_like("value_x_weight", value, collections)
        total_weight = _average_like("weight", weight, collections)
        numerator = assign_moving_average(total, value * weight, decay, zero_debias=False)
        denominator = assign_moving_average(total_weight, weight, decay, zero_debias=False)
        if truediv:
            return math.truediv(numerator, denominator, name=scope.name)
        return math.div(numerator, denominator, name=scope.name)


class ExponentialMovingAverage:
    """Keeps a shadow of each variable: `shadow = decay * shadow + (1 - decay) * variable`.

    Args:
        decay: How slowly the averages forget, near to 1.
        num_updates: A count of steps, by which the first averages forget faster.
        zero_debias: Whether averages of tensors are corrected for starting at zero.
        name: What the averages' names end with.

    Example:
        >>> w = tf.Variable(1.0)
        >>> average = tf.train.ExponentialMovingAverage(decay=0.9)
        >>> update = average.apply([w])
        >>> sess.run(tf.global_variables_initializer())
        >>> sess.run(w.assign(2.0))
        np.float32(2.0)
        >>> sess.run(update)
        >>> sess.run(average.average(w))
        np.float32(1.1)
    """

    def __init__(self, decay, num_updates=None, zero_debias=False, name="ExponentialMovingAverage"):
        self._name = name
        # With few updates so far, their number makes the decay smaller.
        self._decay, self._num_updates = decay, num_updates
        self._zero_debias = zero_debias
        self._averages: dict = {}

    name = property(lambda self: self._name, doc="The name given to the constructor.")

    def apply(self, var_list=None):
        """An operation that updates the averages of these variables and tensors (all trainable variables by default)."""
        if var_list is None:
            var_list = variables.trainable_variables()
        for var in var_list:
            if var.dtype.base_dtype not in (dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64):
                raise TypeError(
                    f"What is averaged must be half, float, or double, and {var.name} is of {var.dtype.base_dtype.name}"
                )
            if var not in self._averages:
                with init_scope():
                    self._averages[var] = self._shadow(var)
        with name_scope(self.name) as scope:
            decay = convert_to_tensor(self._decay, name="decay")
            if self._num_updates is not None:
                num_updates = math.cast(self._num_updates, dtypes.float32, name="num_updates")
                decay = math.minimum(decay, (1.0 + num_updates) / (10.0 + num_updates))
            updates = []
            for var in var_list:
                # The shadow of a variable starts at its initial value: there is no bias to correct.
                debias = self._zero_debias and not isinstance(var, variables.Variable)
                updates.append(assign_moving_average(self._averages[var], var, decay, zero_debias=debias))
            return grouping.group(*updates, name=scope)

    def _shadow(self, var):
        if isinstance(var, variables.Variable):
            shadow = slot_creator.create_slot(var, var.initialized_value(), self.name, colocate_with_primary=True)
            add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, var)
            return shadow
        is_variable = var.op.type in ("Variable", "VariableV2", "VarHandleOp")
        return slot_creator.create_zeros_slot(var, self.name, colocate_with_primary=is_variable)

    def average(self, var):
        """The shadow variable of a variable or tensor, or None."""
        return self._averages.get(var)

    def average_name(self, var):
        """The name of the shadow variable, also where there is none (yet)."""
        if var in self._averages:
            return self._averages[var].op.name
        return get_default_graph().unique_name(f"{var.op.name}/{self.name}", mark_as_used=False)

    def variables_to_restore(self, moving_avg_variables=None):
        """A map for a Saver that restores averages into the variables themselves: name in the checkpoint → variable."""
        if moving_avg_variables is None:
            moving_avg_variables = variables.trainable_variables() + variables.moving_average_variables()
        averaged = list(dict.fromkeys(moving_avg_variables))
        found = {self.average_name(v): v for v in averaged}
        names = {v.name for v in averaged}
        for v in dict.fromkeys(variables.global_variables()):
            if v.name not in names and v.op.name not in found:
                found[v.op.name] = v
        return found
