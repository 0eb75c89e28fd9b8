"""Exported models of series in use: states from observations, predictions from states."""

from __future__ import annotations

import numpy as np

from everflow.contrib.timeseries.arrays import canonical_arrays
from everflow.contrib.timeseries.feature_keys import (
    FilteringFeatures,
    FilteringResults,
    PredictionFeatures,
    PredictionResults,
    SavedModelLabels,
    State,
)
from everflow.contrib.timeseries.head import state_to_dictionary
from everflow.contrib.timeseries.steps import times_after


def _run(signature, session, features, continue_from=None):
    """What a signature gives for features, and for the state of what went before."""
    given = {**_state_of(continue_from), **features} if continue_from is not None else dict(features)
    graph = session.graph
    feeds = {graph.as_graph_element(info.name): given[name] for name, info in signature.inputs.items() if name in given}
    fetches = {name: graph.as_graph_element(info.name) for name, info in signature.outputs.items()}
    return session.run(fetches, feed_dict=feeds)


def _state_of(output):
    """The parts of a state by name, of what `evaluate` or one of these functions gave."""
    if FilteringResults.STATE_TUPLE in output:
        return state_to_dictionary(output[FilteringResults.STATE_TUPLE])
    return {name: value for name, value in output.items() if name.startswith(State.STATE_PREFIX)}


def predict_continuation(continue_from, signatures, session, steps=None, times=None, exogenous_features=None):
    """Predictions that go on from a state.

    Args:
        continue_from: What `evaluate`, `cold_start_filter` or `filter_continuation` gave.
        signatures: The MetaGraphDef that was loaded.
        session: The session it was loaded into.
        steps: How many steps to predict; or
        times: The times to predict.
        exogenous_features: Further features of these times, by name.

    Returns:
        Predictions by name, with their times.
    """
    predicted = times_after(continue_from[FilteringResults.TIMES], steps, times)
    features = {PredictionFeatures.TIMES: predicted, **(exogenous_features or {})}
    output = _run(signatures.signature_def[SavedModelLabels.PREDICT], session, features, continue_from)
    output[PredictionResults.TIMES] = predicted
    return output


def cold_start_filter(signatures, session, features):
    """The state after a series that begins anew.

    Args:
        signatures: The MetaGraphDef that was loaded.
        session: The session it was loaded into.
        features: Arrays by name: times, values and what else the model reads.

    Returns:
        The parts of the state by name, with the times.
    """
    return _filtered(SavedModelLabels.COLD_START_FILTER, signatures, session, features)


def filter_continuation(continue_from, signatures, session, features):
    """The state after more of a series.

    Args:
        continue_from: What `evaluate` or one of these functions gave.
        signatures: The MetaGraphDef that was loaded.
        session: The session it was loaded into.
        features: Arrays by name: times, values and what else the model reads.

    Returns:
        The parts of the state by name, with the times.
    """
    return _filtered(SavedModelLabels.FILTER, signatures, session, features, continue_from)


def _filtered(label, signatures, session, features, continue_from=None):
    features = canonical_arrays(features, require_single_batch=False)
    output = _run(signatures.signature_def[label], session, features, continue_from)
    output[FilteringResults.TIMES] = np.asarray(features[FilteringFeatures.TIMES])
    return output
