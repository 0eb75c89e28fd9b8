"""tf.contrib.boosted_trees: the losses of its estimators; the estimators are those of tf.estimator."""
