"""The names under which times, values and states travel between input functions, models and exported signatures."""

from __future__ import annotations

from everflow.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY


class Times:
    """When something was observed, or is to be predicted."""

    TIMES = "times"


class Values:
    """What was observed."""

    VALUES = "values"


class State:
    """What a model remembers of a series."""

    STATE_TUPLE = "start_tuple"
    # Parts of the state in a flat dictionary: the prefix, an underscore and a number.
    STATE_PREFIX = "model_state"


class TrainEvalFeatures(Times, Values):
    """What training and evaluation read."""


class PredictionFeatures(Times, State):
    """What a prediction reads."""


class FilteringFeatures(Times, Values, State):
    """What a state is brought forward with."""


class PredictionResults(Times):
    """What a prediction gives."""


class FilteringResults(Times, State):
    """What evaluation gives: also a state to predict from."""


class SavedModelLabels:
    """The signatures of an exported model."""

    PREDICT = DEFAULT_SERVING_SIGNATURE_DEF_KEY
    FILTER = "filter"
    COLD_START_FILTER = "cold_start_filter"
