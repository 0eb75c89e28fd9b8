"""`estimator_head_distribution_regression`: a head for tf.contrib.learn's estimators."""

from __future__ import annotations


def estimator_head_distribution_regression(
    make_distribution_fn,
    label_dimension=1,
    logits_dimension=None,
    label_name=None,
    weight_column_name=None,
    enable_centered_bias=False,
    head_name=None,
):
    """A head whose logits make the distribution of labels: minimizes their negative log-likelihood.

    >>> def normal(logits):
    ...     return tf.distributions.Normal(logits[:, 0], tf.nn.softplus(logits[:, 1]))
    >>> head = tf.contrib.distributions.estimator_head_distribution_regression(normal, logits_dimension=2)
    """
    if enable_centered_bias:
        raise ValueError("enable_centered_bias is not supported: a model's own bias learns the same.")
    # Loaded here: it brings the estimators, which few who want a distribution need.
    from everflow.contrib.distributions.distribution_head import DistributionHead

    named = label_name, weight_column_name, head_name
    return DistributionHead(make_distribution_fn, label_dimension, logits_dimension, *named)
