"""The three purposes that a model function is called for."""

from __future__ import annotations


class ModeKeys:
    """What a model function builds its graph for: training, evaluation or prediction.

    Example:
        >>> tf.estimator.ModeKeys.TRAIN, tf.estimator.ModeKeys.EVAL, tf.estimator.ModeKeys.PREDICT
        ('train', 'eval', 'infer')
    """

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"
