"""`lang.special_functions`: lists and values that are of the graph where others are."""

from __future__ import annotations

from everflow.framework.conversion import convert_to_tensor
from everflow.framework.operation import Tensor
from everflow.legacy.inner.autograph.operators import data_structures
from everflow.ops.autograph import operators


def match_staging_level(value, like_value):
    """The value, as a tensor where another one is."""
    return convert_to_tensor(value) if operators._is_tensor(like_value) else value


def tensor_list(elements, element_dtype=None, element_shape=None, use_tensor_array=False):
    """A list of the graph, or a TensorArray, with the elements."""
    if not isinstance(elements, Tensor) and not elements and None in (element_dtype, element_shape):
        raise ValueError("A list without elements needs element_dtype and element_shape")
    make = data_structures.tf_tensor_array_new if use_tensor_array else data_structures.tf_tensor_list_new
    return make(elements, element_dtype, element_shape)


def stack(list_or_tensor, element_dtype=None, strict=True):
    """The elements of a list as one tensor. What is none is an error, or with `strict` False given back."""

    def as_it_is(value):
        if strict:
            raise ValueError(f"{value!r} can't be stacked")
        return value

    return data_structures.list_stack(
        list_or_tensor, data_structures.ListStackOpts(element_dtype=element_dtype, original_call=as_it_is)
    )
