"""The rules by which graph-level and op-level random seeds become the two seeds of an op."""

from __future__ import annotations

from everflow.framework.scopes import get_default_graph

DEFAULT_GRAPH_SEED = 87654321
_MODULUS = 2**31 - 1
_MAXINT32 = _MODULUS


def _truncate_seed(seed: int) -> int:
    """A seed that fits into 32 bits."""
    return seed % _MODULUS


def get_seed(op_seed: int | None) -> tuple[int, int] | tuple[None, None]:
    """The (seed, seed2) attributes of a random op made now with this op-level seed; (None, None) for a free one.

    Args:
        op_seed: The seed given to the operation, or None.

    Returns:
        A pair of numbers, or of Nones.

    Example:
        >>> tf.set_random_seed(1)
        >>> tf.get_seed(7)
        (1, 7)
    """
    graph = get_default_graph()
    if graph.seed is not None:
        seed, seed2 = graph.seed, graph.next_op_seed() if op_seed is None else op_seed
    elif op_seed is not None:
        seed, seed2 = DEFAULT_GRAPH_SEED, op_seed
    else:
        return None, None
    seeds = _truncate_seed(seed), _truncate_seed(seed2)
    # Both zero would mean "choose at random".
    return (0, _MODULUS) if seeds == (0, 0) else seeds


def set_random_seed(seed: int | None) -> None:
    """Set the graph-level seed of the default graph: its random numbers are the same in each run of the program.

    Args:
        seed: A whole number.

    Returns:
        None.

    Example:
        >>> tf.set_random_seed(1)
        >>> sess.run(tf.random_uniform([2]))
        array([0.195606  , 0.02986085], dtype=float32)
    """
    get_default_graph().seed = seed


set_seed = set_random_seed  # its name in TensorFlow 2
