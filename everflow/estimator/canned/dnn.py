"""tf.estimator: canned estimators over feature columns (dnn). Being written with the feature columns."""
