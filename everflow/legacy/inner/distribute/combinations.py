"""tensorflow.python.distribute.combinations, and framework.combinations: tests that run in graphs and eagerly, and with
strategies, where there are the devices for them.
"""

# ruff: noqa: F401  Names handed on are a purpose of this file.

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from everflow.eager import version_mark
from everflow.eager.mode import eager_mode
from everflow.framework.graph import Graph
from everflow.legacy.inner import test_combinations
from everflow.legacy.inner.test_combinations import (
    NamedObject,
    OptionalParameter,
    ParameterModifier,
    TestCombination,
    combine,
    times,
)
from everflow.runtime.process_options import PROCESS


class EagerGraphCombination(TestCombination):
    """`mode`: whether a test runs in a graph or eagerly."""

    _CONTEXTS = {"graph": lambda: Graph().as_default(), "eager": eager_mode}

    def context_managers(self, kwargs: Mapping[str, Any]) -> list[contextlib.AbstractContextManager]:
        """A graph of the test's own, or eager execution."""
        mode = kwargs.get("mode")
        if mode is None:
            return []
        if mode not in self._CONTEXTS:
            raise ValueError(f"A test runs in mode 'graph' or 'eager', not {mode!r}")
        return [self._CONTEXTS[mode]()]

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """Tests needn't take it."""
        return [OptionalParameter("mode")]


class TFVersionCombination(TestCombination):
    """`tf_api_version`: a test runs where its version's behaviour is asked for."""

    def should_execute_combination(self, kwargs: Mapping[str, Any]) -> tuple[bool, str | None]:
        """Not for the other version."""
        wanted, here = kwargs.get("tf_api_version"), 2 if version_mark.enabled() else 1
        if wanted not in (None, here):
            return False, f"It is a test of TensorFlow {wanted}'s behaviour."
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """Tests needn't take it."""
        return [OptionalParameter("tf_api_version")]


class NamedDistribution:
    """A strategy by name, made when a test asks for it, and the devices that it needs."""

    def __init__(
        self,
        name: str,
        distribution_fn: Callable[[], Any],
        required_gpus: int | None = None,
        required_tpu: bool = False,
    ) -> None:
        self._name, self._distribution_fn = name, distribution_fn
        self.required_gpus, self.required_tpu = required_gpus, required_tpu

    strategy = property(lambda self: self._distribution_fn(), doc="A new strategy.")

    def __repr__(self) -> str:
        return self._name


class DistributionParameter(ParameterModifier):
    """Gives tests the strategy that is named."""

    def modified_arguments(self, kwargs: Mapping[str, Any], requested_parameters: Iterable[str]) -> dict[str, Any]:
        """Strategies in place of their names."""
        return {key: value.strategy for key, value in kwargs.items() if isinstance(value, NamedDistribution)}


def _distributions(kwargs: Mapping[str, Any]) -> list[NamedDistribution]:
    return [value for value in kwargs.values() if isinstance(value, NamedDistribution)]


class NamedGPUCombination(TestCombination):
    """Leaves tests out that need more GPUs than there are."""

    GPU_TEST = False

    def should_execute_combination(self, kwargs: Mapping[str, Any]) -> tuple[bool, str | None]:
        """Where there are the GPUs that the test or one of its strategies needs."""
        asked = [kwargs.get("required_gpus"), *(each.required_gpus for each in _distributions(kwargs))]
        wanted = max((number for number in asked if number is not None), default=0)
        there = sum(device.device_type == "GPU" for device in PROCESS.logical_devices())
        if wanted > there:
            return False, f"It needs {wanted} GPUs; there are {there}."
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """Tests needn't take it."""
        return [OptionalParameter("required_gpus")]


class GPUCombination(NamedGPUCombination):
    """`NamedGPUCombination`, and strategies are made of their names."""

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """Strategies in place of names."""
        return [DistributionParameter(), *super().parameter_modifiers()]


class NamedTPUCombination(TestCombination):
    """Leaves tests out that need TPUs: there are none."""

    TPU_TEST = False

    def should_execute_combination(self, kwargs: Mapping[str, Any]) -> tuple[bool, str | None]:
        """Where neither the test nor one of its strategies needs a TPU."""
        if kwargs.get("required_tpu") or any(each.required_tpu for each in _distributions(kwargs)):
            return False, "It needs a TPU; there is none."
        return True, None

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """Tests needn't take it."""
        return [OptionalParameter("required_tpu")]


class TPUCombination(NamedTPUCombination):
    """`NamedTPUCombination`, and strategies are made of their names."""

    def parameter_modifiers(self) -> list[ParameterModifier]:
        """Strategies in place of names."""
        return [DistributionParameter(), *super().parameter_modifiers()]


generate = functools.partial(
    test_combinations.generate,
    test_combinations=(EagerGraphCombination(), TFVersionCombination(), GPUCombination(), TPUCombination()),
)
