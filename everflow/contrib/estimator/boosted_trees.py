"""Boosted trees trained on data that fit into one batch: where each example was left is remembered from layer to layer."""

from __future__ import annotations

from everflow.estimator.canned.boosted_trees import BoostedTreesClassifier, BoostedTreesRegressor
from everflow.platform.signatures import inserted, options_of, takes


def _trained_in_memory(kind, name):
    """A function that makes an estimator of that kind and trains it."""
    parameters = options_of(kind.__init__, ["train_in_memory"])

    @takes(inserted(parameters, config={"train_hooks": None}))
    def train(train_input_fn, feature_columns, **given):
        hooks = given.pop("train_hooks")
        return kind(feature_columns, 1, **given, train_in_memory=True).train(train_input_fn, hooks=hooks)

    train.__name__ = train.__qualname__ = f"boosted_trees_{name}_train_in_memory"
    train.__doc__ = f"A `{kind.__name__}` that is trained already; the input function gives all examples at once."
    return train


boosted_trees_classifier_train_in_memory = _trained_in_memory(BoostedTreesClassifier, "classifier")
boosted_trees_regressor_train_in_memory = _trained_in_memory(BoostedTreesRegressor, "regressor")
