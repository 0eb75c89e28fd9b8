"""tf.contrib.input_pipeline: a list of strings handed out in turn, its place kept in a variable and so in checkpoints."""

from everflow.framework import raw_ops as _raw
from everflow.framework.registry import not_differentiable as _not_differentiable
from everflow.framework.registry import shape_rule as _shape_rule
from everflow.framework.scopes import colocate_with as _colocate_with
from everflow.framework.shapes import scalar as _scalar

__all__ = ["obtain_next"]


def obtain_next(string_list_tensor, counter):
    """The next string of a list, forever: `counter` is an int64 variable that starts at 0."""
    with _colocate_with(counter):
        return _raw.ObtainNext(list=string_list_tensor, counter=counter)


@_shape_rule("ObtainNext")
def _obtain_next_shape(op):
    return _scalar()


_not_differentiable("ObtainNext")
