"""What a strided slice means, against Python's own slicing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everflow.framework import slicing

bounds = st.integers(-7, 7)


@given(st.integers(0, 5), bounds, bounds, st.integers(-3, 3).filter(bool), st.booleans(), st.booleans())
def test_a_range_is_what_python_makes_of_it(size, begin, end, stride, from_start, to_end):
    (axis,) = slicing.resolve([size], [begin], [end], [stride], begin_mask=int(from_start), end_mask=int(to_end))
    wanted = range(size)[None if from_start else begin : None if to_end else end : stride]
    assert axis.size == len(wanted)
    assert [axis.begin + i * stride for i in range(axis.size)] == list(wanted)


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=3),
    st.lists(st.sampled_from(["int", "slice", "new"]), max_size=3),
    st.integers(0, 3),
)
def test_ellipsis_new_axes_and_single_indices_give_numpys_shape(dims, kinds, place):
    kinds = kinds[: place % (len(kinds) + 1)] + ["ellipsis"] + kinds[place % (len(kinds) + 1) :]
    if sum(k in ("int", "slice") for k in kinds) > len(dims):
        return
    key = tuple({"int": 0, "slice": slice(None, 1), "new": None, "ellipsis": Ellipsis}[k] for k in kinds)
    masks = {
        name: sum(1 << i for i, k in enumerate(kinds) if k == kind)
        for name, kind in {"ellipsis_mask": "ellipsis", "new_axis_mask": "new", "shrink_axis_mask": "int"}.items()
    }
    ends = [1] * len(kinds)
    axes = slicing.resolve(dims, [0] * len(kinds), ends, [1] * len(kinds), **masks)
    assert tuple(slicing.output_dims(axes)) == np.zeros(dims)[key].shape


def test_what_is_not_known_stays_open():
    assert slicing.output_dims(slicing.resolve([None, 4], [0, 1], [2, 3], [1, 1])) == [None, 2]
    assert slicing.output_dims(slicing.resolve([5, 4], None, None, [1, 1], begin_mask=1, end_mask=1)) == [5, None]


@pytest.mark.parametrize(
    "begin, stride, masks, message",
    [
        ([5], [1], {"shrink_axis_mask": 1}, "slice index 5 of dimension 0 out of bounds"),
        ([0], [0], {}, "must be non-zero"),
        ([0], [-1], {"shrink_axis_mask": 1}, "only stride 1"),
        ([0, 0, 0], [1, 1, 1], {}, "input has only 2 dims"),
        ([0, 0], [1, 1], {"ellipsis_mask": 3}, "Multiple ellipses"),
    ],
)
def test_slices_a_tensor_can_not_have(begin, stride, masks, message):
    with pytest.raises(ValueError, match=message):
        slicing.resolve([3, 4], begin, [1] * len(begin), stride, **masks)
