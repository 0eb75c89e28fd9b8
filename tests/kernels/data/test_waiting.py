"""Elements that wait by their numbers: what is put in comes out, also where shapes differ or something fails."""

import pytest
import torch

from everflow.kernels.data import blocks
from everflow.kernels.data.datasets import Dataset, End, Iteration, from_iterable, rows_in_order
from everflow.kernels.data.waiting import Waiting


def in_order(source, buffer_size=1):
    """A take of all elements, in the order in which they come."""
    waiting = Waiting(source, buffer_size)
    return waiting.chosen_by(waiting.a_pass(Iteration()))


def of(*elements):
    return blocks.of(Dataset(from_iterable(lambda: list(elements)).start))


def test_rows_stay_where_they_are():
    source = rows_in_order([torch.arange(10) * 3], 10)
    take = in_order(source)
    assert take(4).tolist() == [0, 1, 2, 3] and take(10).tolist() == [4, 5, 6, 7, 8, 9]
    with pytest.raises(End):
        take(1)


def test_numbers_of_elements_that_are_gone_are_used_again():
    waiting = Waiting(of(*((torch.tensor(i),) for i in range(500))), 1)
    numbers = []
    following = waiting.a_pass(Iteration())

    def noted():
        numbers.append(following())
        return numbers[-1]

    take = waiting.chosen_by(noted)
    assert sum((take(5)[0].tolist() for _ in range(100)), []) == list(range(500))
    assert len(set(numbers)) < 20


def test_elements_of_other_shapes_come_alone():
    take = in_order(of((torch.zeros(2),), (torch.ones(2),), (torch.ones(3),), (torch.zeros(2),)))
    assert [tuple(take(4)[0].shape) for _ in range(4)] == [(1, 2), (1, 2), (1, 3), (1, 2)]


def test_an_error_waits_for_its_turn():
    def start(iteration):
        given = iter([1, 2, None])

        def following():
            value = next(given)
            if value is None:
                raise ValueError("the third")
            return (torch.tensor(value),)

        return following

    take = in_order(blocks.of(Dataset(start)))
    assert take(3)[0].tolist() == [1, 2]
    with pytest.raises(ValueError, match="the third"):
        take(3)
