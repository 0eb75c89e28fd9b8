"""Where values lie that only a region sees."""

import random

from everflow.native.places import packed


def test_memory_is_used_again_when_a_value_is_over():
    places, total = packed([(64, 0, 1), (64, 1, 2), (64, 2, 3)])
    assert places[0] == places[2] != places[1]
    assert total == 128


def test_a_smaller_value_takes_a_larger_place():
    assert packed([(128, 0, 0), (64, 1, 1)]) == ([0, 0], 128)
    assert packed([(64, 0, 0), (128, 1, 1)])[1] == 192
    assert packed([]) == ([], 0)


def test_values_whose_times_meet_never_share_memory():
    draw = random.Random(0)
    for _ in range(50):
        spans = []
        for _ in range(40):
            first = draw.randrange(20)
            spans.append((64 * draw.randint(1, 5), first, first + draw.randrange(6)))
        places, total = packed(spans)
        for i, (size, first, last) in enumerate(spans):
            assert places[i] + size <= total
            for j, (other, begin, end) in enumerate(spans[:i]):
                if first <= end and begin <= last:
                    assert places[i] + size <= places[j] or places[j] + other <= places[i]
