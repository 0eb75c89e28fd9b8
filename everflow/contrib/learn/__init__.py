"""tf.contrib.learn: its data sets and the names of modes. Its estimators became tf.estimator."""

from everflow.contrib.learn import datasets, preprocessing


class ModeKeys:
    """What a model function is called for."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key):
        """Raise ValueError for anything else."""
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError(f"Invalid mode {key}.")
