"""tf.estimator: canned estimators over feature columns (dnn_linear_combined). Being written with the feature columns."""
