"""The three purposes that a model function is called for."""

from __future__ import annotations


class ModeKeys:
    """What a model function builds its graph for: training, evaluation or prediction."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"
