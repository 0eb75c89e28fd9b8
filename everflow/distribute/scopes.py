"""The contexts in which a strategy is in force. One may be entered again, inside of itself or after it ended."""

from __future__ import annotations

import contextlib
from typing import Any

from everflow.distribute import context
from everflow.framework.scopes import device, get_default_graph
from everflow.ops.variables.scope import get_variable_scope, variable_creator_scope


class StrategyScope:
    """`strategy.scope()`: variables are made by the strategy, on its default device where it has one."""

    def __init__(self, strategy: Any) -> None:
        self._strategy = strategy
        self._entered: list[tuple[contextlib.ExitStack, _Place]] = []

    def __enter__(self) -> Any:
        strategy, frame = self._strategy, context.current()
        if context.has_strategy() and (frame.strategy is not strategy or frame.replica_context is not None):
            same = frame.strategy is strategy
            text = "the same strategy's replica function" if same else "the scope of another strategy"
            raise RuntimeError(
                f"Mixing different tf.distribute.Strategy objects: a scope can't be entered inside {text}."
            )
        with contextlib.ExitStack() as stack:
            stack.enter_context(context.entered(context.Frame(strategy)))
            if frame.strategy is not strategy:
                stack.enter_context(variable_creator_scope(strategy.extended._creator))
                default_device = strategy.extended._default_device
                if default_device is not None:
                    stack.enter_context(device(default_device))
            self._entered.append((stack.pop_all(), _Place()))
        return strategy

    def __exit__(self, *exception: Any) -> None:
        stack, place = self._entered[-1]
        place.check_operations()
        self._entered.pop()
        stack.__exit__(*exception)
        place.check_variables()


class _Place:
    """Where a graph's scopes were; what was entered since must have ended before a strategy's scope does."""

    def __init__(self) -> None:
        self._graph = get_default_graph()
        self._devices = len(self._graph._device_stack)
        self._creators = self._graph._variable_creator_stack
        self._variables = get_variable_scope()

    def check_operations(self) -> None:
        """Raise if a scope of devices or of variables' creators that was entered since is still open."""
        if len(self._graph._device_stack) != self._devices:
            raise RuntimeError("A strategy's scope can't end inside of a tf.device that was entered in it")
        if self._graph._variable_creator_stack is not self._creators:
            raise RuntimeError("A strategy's scope can't end inside of a variable_creator_scope that was entered in it")

    def check_variables(self) -> None:
        """Raise if a variable scope that was entered since is still open."""
        with self._graph.as_default():
            if get_variable_scope() is not self._variables:
                raise RuntimeError("A strategy's scope can't end inside of a variable_scope that was entered in it")
