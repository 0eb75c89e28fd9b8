"""tf.contrib.quantize: graphs rewritten so that training feels the rounding of 8-bit inference."""

from everflow.contrib.quantize.rewriting import (
    create_eval_graph,
    create_training_graph,
    experimental_create_eval_graph,
    experimental_create_training_graph,
)

__all__ = [
    "create_eval_graph",
    "create_training_graph",
    "experimental_create_eval_graph",
    "experimental_create_training_graph",
]
