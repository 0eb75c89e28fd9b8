"""tf.contrib.bayesflow: expectations by sampling (`monte_carlo`)."""

from everflow.contrib.bayesflow import monte_carlo

__all__ = ["monte_carlo"]
