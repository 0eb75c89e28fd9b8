"""Boosted trees trained on data that fit into one batch: where each example was left is remembered from layer to layer."""

from __future__ import annotations

from everflow.estimator.canned.boosted_trees import ONE_LOGIT, BoostedTreesClassifier, BoostedTreesRegressor


def boosted_trees_classifier_train_in_memory(train_input_fn, feature_columns, model_dir=None, n_classes=ONE_LOGIT, weight_column=None,
                                             label_vocabulary=None, n_trees=100, max_depth=6, learning_rate=0.1, l1_regularization=0.0,
                                             l2_regularization=0.0, tree_complexity=0.0, min_node_weight=0.0, config=None,
                                             train_hooks=None, center_bias=False, pruning_mode="none",
                                             quantile_sketch_epsilon=0.01):  # fmt: skip
    """A `BoostedTreesClassifier` that is trained already; the input function gives all examples at once."""
    return BoostedTreesClassifier(
        feature_columns, 1, model_dir, n_classes, weight_column, label_vocabulary, n_trees, max_depth, learning_rate, l1_regularization,
        l2_regularization, tree_complexity, min_node_weight, config, center_bias, pruning_mode, quantile_sketch_epsilon, train_in_memory=True
    ).train(train_input_fn, hooks=train_hooks)  # fmt: skip


def boosted_trees_regressor_train_in_memory(train_input_fn, feature_columns, model_dir=None, label_dimension=ONE_LOGIT, weight_column=None,
                                            n_trees=100, max_depth=6, learning_rate=0.1, l1_regularization=0.0, l2_regularization=0.0,
                                            tree_complexity=0.0, min_node_weight=0.0, config=None, train_hooks=None, center_bias=False,
                                            pruning_mode="none", quantile_sketch_epsilon=0.01):  # fmt: skip
    """A `BoostedTreesRegressor` that is trained already; the input function gives all examples at once."""
    return BoostedTreesRegressor(
        feature_columns, 1, model_dir, label_dimension, weight_column, n_trees, max_depth, learning_rate, l1_regularization,
        l2_regularization, tree_complexity, min_node_weight, config, center_bias, pruning_mode, quantile_sketch_epsilon, train_in_memory=True
    ).train(train_input_fn, hooks=train_hooks)  # fmt: skip
