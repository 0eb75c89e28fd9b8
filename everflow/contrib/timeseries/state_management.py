"""Where the states of a series come from when a model trains on windows of it."""

from __future__ import annotations

import abc

from everflow.contrib.timeseries.feature_keys import State, TrainEvalFeatures
from everflow.contrib.timeseries.model import ModelOutputs
from everflow.contrib.timeseries.state_tables import TupleOfTensorsLookup
from everflow.contrib.timeseries.statistics import replicate_state
from everflow.framework import dtypes, nest
from everflow.framework.scopes import control_dependencies
from everflow.ops import array, math


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


class ChainingStateManager(_OverridableStateManager):
    """Windows go on where earlier ones, of other batches, came to: states are kept every few steps of the series.

    Args:
        state_saving_interval: How many times there are between states that are kept.
        checkpoint_state: Whether checkpoints save them.
    """

    def __init__(self, state_saving_interval=20, checkpoint_state=False):
        super().__init__()
        self._state_saving_interval = state_saving_interval
        self._checkpoint_state = checkpoint_state
        self._start_state = None
        self._cached_states = None

    def initialize_graph(self, model, input_statistics=None):
        super().initialize_graph(model=model, input_statistics=input_statistics)
        self._start_state = model.get_start_state()
        self._cached_states = TupleOfTensorsLookup(
            key_dtype=dtypes.int64,
            default_values=self._start_state,
            empty_key=-1,
            deleted_key=-2,
            name="cached_states",
            checkpoint=self._checkpoint_state,
        )

    def _define_loss_with_saved_state(self, model, features, mode):
        outputs = self._update_cached_states(model=model, features=features, mode=mode)
        # What is to go on from the batch goes on from its last window.
        return outputs._replace(end_state=nest.map_structure(lambda part: part[-1][None], outputs.end_state))

    def _get_chunk_number(self, time):
        return time // self._state_saving_interval

    def _get_cached_states(self, times):
        """The states that windows of these first times go on from."""
        chunks = self._get_chunk_number(times)
        cached = self._cached_states.lookup(chunks)
        first = 0
        if self._input_statistics is not None:
            first = self._get_chunk_number(self._input_statistics.start_time)
        # Where the series begins, nothing was seen.
        begins = math.equal(chunks, first)
        start = replicate_state(self._start_state, array.shape(times)[0])
        pairs = zip(nest.flatten(start), nest.flatten(cached), strict=True)
        return nest.pack_sequence_as(
            self._start_state, [array.where(begins, at_start, kept) for at_start, kept in pairs]
        )

    def _update_cached_states(self, model, features, mode):
        """ModelOutputs of a batch that goes on from kept states, whose loss keeps those it comes to."""
        times = features[TrainEvalFeatures.TIMES]
        start = self._get_cached_states(times[:, 0])
        loss, states, predictions = model.per_step_batch_loss(features=features, mode=mode, state=start)
        # A state is kept for the chunk of the time after it, and at the earliest for the next chunk.
        next_chunks = self._get_chunk_number(times) + 1
        times_after = array.concat([times[:, 1:], times[:, -1:] + 1], axis=1)
        keys = math.maximum(self._get_chunk_number(times_after), next_chunks)
        kept = self._cached_states.insert(keys, states)
        end_state = nest.map_structure(lambda steps: steps[:, -1], states)
        with control_dependencies([kept]):
            loss = array.identity(loss)
        return ModelOutputs(
            loss=loss,
            end_state=end_state,
            predictions={**predictions, "observed": features[TrainEvalFeatures.VALUES]},
            prediction_times=times,
        )
