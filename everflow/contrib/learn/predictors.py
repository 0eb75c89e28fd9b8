"""How the ready-made models of tf.contrib.learn predict: classes and probabilities, or numbers."""

from __future__ import annotations

from everflow.contrib.learn import bundle_export
from everflow.contrib.learn.model_ops import PredictionKey


def picked(estimator, key, x, input_fn, batch_size, as_iterable):
    """One output of an estimator for each example."""
    made = estimator.predict(x, input_fn, batch_size, [key], as_iterable)
    return (prediction[key] for prediction in made) if as_iterable else made[key]


class _Predicts:
    """`predict` gives one of a model's outputs, that of `_key`, unless it is asked for others."""

    _key: str

    def export(
        self,
        export_dir,
        input_fn=None,
        input_feature_key=None,
        use_deprecated_input_fn=True,
        signature_fn=None,
        default_batch_size=1,
        exports_to_keep=None,
    ):
        """Write the newest model as a session bundle that answers with probabilities, or with a number."""
        return super().export(
            export_dir,
            input_fn,
            input_feature_key,
            use_deprecated_input_fn,
            signature_fn or self._signature_fn,
            self._exported_key,
            default_batch_size,
            exports_to_keep,
        )

    def predict(self, x=None, input_fn=None, batch_size=None, outputs=None, as_iterable=True):
        """The class, or number, of each example, or dicts of what `outputs` asks for."""
        if outputs:
            return super().predict(x, input_fn, batch_size, outputs, as_iterable)
        return picked(self, self._key, x, input_fn, batch_size, as_iterable)


class TellsClasses:
    """Classes and probabilities alone, beside `predict` that gives all."""

    def predict_classes(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        """The class of each example."""
        return picked(self, PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)

    def predict_proba(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        """The probabilities of the classes for each example."""
        return picked(self, PredictionKey.PROBABILITIES, x, input_fn, batch_size, as_iterable)


class PredictsClasses(TellsClasses, _Predicts):
    """Of classifiers."""

    _key = PredictionKey.CLASSES
    _exported_key = PredictionKey.PROBABILITIES
    _signature_fn = staticmethod(bundle_export.classification_signature_fn_with_prob)


class TellsScores:
    """Numbers alone, beside `predict` that gives all."""

    def predict_scores(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        """The number for each example."""
        return picked(self, PredictionKey.SCORES, x, input_fn, batch_size, as_iterable)


class PredictsScores(TellsScores, _Predicts):
    """Of regressors."""

    _key = _exported_key = PredictionKey.SCORES
    _signature_fn = staticmethod(bundle_export.regression_signature_fn)
