"""tf.estimator: canned estimators over feature columns (linear). Being written with the feature columns."""
