"""What is computed in one pass over memory, and in which order."""

import pytest

from everflow.native.nests import Access, contiguous, located, scheduled
from everflow.native.values import apply, input_value, join

X = input_value(0, "f4", [4, 6])


def test_a_chain_of_functions_is_one_pass_that_stores_its_end():
    end = apply("tanh", X * 2.0 + 1.0)
    made = scheduled([end])
    [nest], stored = made.nests, made.stored
    assert nest.stores == [end] and stored == {end}


def test_a_reduction_joins_the_pass_over_what_it_reduces():
    y = X * X
    [nest] = scheduled([y, y.reduce("sum", [1])]).nests
    assert nest.stores == [y] and nest.axes == (1,)


def test_softmax_takes_three_passes():
    power = apply("exp", X - X.reduce("peak", [1], keep=True))
    made = scheduled([power / power.reduce("sum", [1], keep=True)])
    nests, stored = made.nests, made.stored
    assert [len(n.reductions) for n in nests] == [1, 1, 0]
    assert power in stored  # two passes need it


def test_reductions_over_other_axes_have_a_pass_of_their_own_that_comes_later():
    y = X * X
    first, second = scheduled([y.reduce("sum", [0]), y.reduce("sum", [1])]).nests
    assert first.stores == [y] and {first.axes, second.axes} == {(0,), (1,)}


def test_values_of_different_shapes_at_one_level_do_not_wait_for_each_other():
    other = input_value(1, "f4", [5])
    nests = scheduled([X * 2.0, other * 2.0]).nests
    assert {n.shape for n in nests} == {(4, 6), (5,)}


@pytest.mark.parametrize(
    "view, offset, strides",
    [
        (X.permute([1, 0]), 0, (1, 6)),
        (X.slice([1, 2], [3, 2], [1, 2]), 8, (6, 2)),
        (X.slice([3, 0], [4, 6], [-1, 1]), 18, (-6, 1)),
        (X.reshape([2, 2, 6]), 0, (12, 6, 1)),
        (X.reshape([24]), 0, (1,)),
        (X.slice([0, 0], [4, 3]).reshape([2, 2, 3]), 0, (12, 6, 1)),
        (X.reshape([4, 1, 6]).expand([4, 5, 6]), 0, (6, 0, 1)),
    ],
)
def test_views_are_strides(view, offset, strides):
    access = located(view, set())
    assert (access.base, access.offset, access.strides) == (X, offset, strides)


def test_a_view_without_strides_is_written_down_first():
    column = X.permute([1, 0]).reshape([24]) * 1.0
    made = scheduled([column])
    nests, stored = made.nests, made.stored
    assert X.permute([1, 0]) in stored and len(nests) == 2


def test_strides_of_memory_in_order():
    assert contiguous((2, 3, 4)) == (12, 4, 1)
    assert contiguous(()) == ()


def test_parts_are_stored_where_they_belong():
    one, other = X * 2.0, apply("exp", X)
    made = join([one, other], 1)
    schedule = scheduled([made])
    [nest] = schedule.nests
    assert nest.stores == [one, other]
    assert schedule.within[one] == Access(made, 0, (12, 1)) and schedule.within[other] == Access(made, 6, (12, 1))


def test_parts_that_others_look_at_are_copied():
    one = X * 2.0
    made = join([one, X, one], 0)
    schedule = scheduled([made, one.permute([1, 0])])
    assert one not in schedule.within and len(schedule.within) == 3
    assert one in schedule.stored


def test_what_is_turned_is_written_down_before_it_is_summed_up():
    turned = X * 2.0 + X.slice([3, 0], [4, 6], [-1, 1])
    mean = turned.reduce("sum", [0, 1], keep=True)
    square = (turned - mean) * (turned - mean)
    nests = scheduled([square.reduce("sum", [0, 1])]).nests
    assert [(turned in n.stores, len(n.reductions)) for n in nests] == [(True, 0), (False, 1), (False, 1)]
