"""What a group of processes expects of itself after steps that were alike."""

from everflow.kernels.habits import FIRST_LEARNT, Habits

A, B, C = (1, 11), (2, 22), (3, 33)


def steps(habits, rounds, count):
    """`count` steps of the same rounds, each (what all have, what some have)."""
    for _ in range(count):
        for common, told in rounds:
            assert habits.expected() is None
            habits.agreed(common, [key for key, _ in told])


def learnt(rounds):
    habits = Habits()
    steps(habits, rounds, FIRST_LEARNT + 2)
    return habits


def test_a_step_is_expected_when_some_were_alike():
    habits = learnt([([A, B], [A, B])])
    for _ in range(3):
        assert habits.expected() == [A, B]
        habits.kept()


def test_it_begins_with_a_step():
    """Not in the middle of one, whose first half is done."""
    habits = learnt([([A], [A]), ([B], [B])])
    assert habits.expected() == [A]
    habits.kept()
    assert habits.expected() == [B]
    habits.kept()
    assert habits.expected() == [A]


def test_what_some_had_before_is_done_at_once():
    assert learnt([([A], [A, B]), ([B], [B, C]), ([C], [C])]).expected() == [A, B]


def test_the_fewest_rounds_are_kept():
    habits = Habits()
    steps(habits, [([A], [A]), ([B], [B])], 2)
    steps(habits, [([A, B], [A, B])], 1)
    steps(habits, [([A], [A]), ([B], [B])], FIRST_LEARNT - 1)
    assert habits.expected() == [A, B]


def test_steps_that_differ_teach_nothing():
    habits = Habits()
    for number in range(20):
        habits.agreed([A, (2, number)], [1, 2])
        assert habits.expected() is None


def test_after_a_disappointment_more_steps_are_wanted():
    habits = learnt([([A], [A])])
    habits.disappointed()
    steps(habits, [([A], [A])], 2 * FIRST_LEARNT + 1)
    assert habits.expected() is None
    steps(habits, [([A], [A])], 1)
    assert habits.expected() == [A]
    habits.spoilt()
    assert habits.expected() is None
