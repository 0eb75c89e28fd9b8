"""How the ready-made models of tf.contrib.learn predict: classes and probabilities, or numbers."""

from __future__ import annotations

from everflow.contrib.learn.model_ops import PredictionKey


class _Predicts:
    """`predict` gives one of a model's outputs, that of `_key`, unless it is asked for others."""

    _key: str

    def predict(self, x=None, input_fn=None, batch_size=None, outputs=None, as_iterable=True):
        """The class, or number, of each example, or dicts of what `outputs` asks for."""
        if outputs:
            return super().predict(x, input_fn, batch_size, outputs, as_iterable)
        return self._picked(self._key, x, input_fn, batch_size, as_iterable)

    def _picked(self, key, x, input_fn, batch_size, as_iterable):
        made = super().predict(x, input_fn, batch_size, [key], as_iterable)
        return (prediction[key] for prediction in made) if as_iterable else made[key]


class PredictsClasses(_Predicts):
    """Of classifiers."""

    _key = PredictionKey.CLASSES

    def predict_classes(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        """The class of each example."""
        return self._picked(PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)

    def predict_proba(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        """The probabilities of the classes for each example."""
        return self._picked(PredictionKey.PROBABILITIES, x, input_fn, batch_size, as_iterable)


class PredictsScores(_Predicts):
    """Of regressors."""

    _key = PredictionKey.SCORES

    def predict_scores(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        """The number for each example."""
        return self._picked(PredictionKey.SCORES, x, input_fn, batch_size, as_iterable)
