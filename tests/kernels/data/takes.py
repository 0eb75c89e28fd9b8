"""Blocks of elements as tests take them."""

from everflow.kernels.data.datasets import End, Iteration


def taken(made, *sizes):
    """What takes of these sizes give: lists of numbers, or the exception."""
    take = made.start_columns(Iteration())
    found = []
    for size in sizes:
        try:
            found.append(take(size)[0].tolist())
        except (End, ValueError) as e:
            found.append(type(e))
    return found
