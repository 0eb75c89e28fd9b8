"""Where the states of a series come from when a model trains on windows of it."""

from __future__ import annotations

import abc

from everflow.contrib.timeseries.feature_keys import State


class PassthroughStateManager:
    """Every window begins anew."""

    def __init__(self):
        self._input_statistics = None
        self._graph_initialized = False

    def initialize_graph(self, model, input_statistics=None):
        """Called once for a graph, before `define_loss`."""
        self._graph_initialized = True
        self._input_statistics = input_statistics

    def define_loss(self, model, features, mode):
        """ModelOutputs of a batch."""
        return model.define_loss(features, mode)


class _OverridableStateManager(PassthroughStateManager, abc.ABC):
    """States that features bring along are taken; else the kind says."""

    @abc.abstractmethod
    def _define_loss_with_saved_state(self, model, features, mode):
        """ModelOutputs of a batch that brings no states along."""

    def define_loss(self, model, features, mode):
        if State.STATE_TUPLE not in features:
            return self._define_loss_with_saved_state(model, features, mode)
        others = {name: value for name, value in features.items() if name != State.STATE_TUPLE}
        return model.get_batch_loss(features=others, mode=mode, state=features[State.STATE_TUPLE])


class FilteringOnlyStateManager(_OverridableStateManager):
    """Windows begin anew unless features bring a state along: for models that look back a window at most."""

    def _define_loss_with_saved_state(self, model, features, mode):
        return model.define_loss(features, mode)
