"""What processes of a group reduce together in every step, learnt from what they have agreed on so far.

To agree costs messages between all, as many as a reduction has. Training asks for the same in each step, so after some
steps that were alike no process asks any more: whoever has all that belongs together begins. All processes see the same
agreements, so each comes to the same expectation without a word.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Entry = tuple[int, int]  # the key of a request, and the sum of what has to be alike

# Steps that have to be alike before they are expected to be so again; twice as many after each disappointment.
FIRST_LEARNT = 8


class Habits:
    """The rounds of agreement of a group, and the rounds that are expected to follow."""

    def __init__(self) -> None:
        self._wanted = FIRST_LEARNT
        self._forget()

    def _forget(self) -> None:
        self._rounds = 0  # of the step under way
        self._first_told: dict[int, int] = {}  # key → the round in which some process had it
        self._done: dict[int, Entry] = {}  # of the step under way
        self._last: frozenset[Entry] = frozenset()  # what the step before was made of
        self._alike = 0
        self._best: list[list[Entry]] = []  # rounds of that of the steps before that had the fewest
        self._cycle: list[list[Entry]] = []  # what is expected, once it is
        self._next = 0

    def expected(self) -> Sequence[Entry] | None:
        """What all will reduce together next; None where that has to be agreed on."""
        return self._cycle[self._next] if self._cycle else None

    def kept(self) -> None:
        """What was expected has been done."""
        self._next = (self._next + 1) % len(self._cycle)

    def disappointed(self) -> None:
        """Some process had something else."""
        self._wanted *= 2
        self._forget()

    def agreed(self, common: Iterable[Entry], told: Iterable[int]) -> None:
        """Note a round: what all had, and the keys that any of them had."""
        common = list(common)
        if any(key in self._done for key, _ in common):
            self._end_step()
        for key in told:
            self._first_told.setdefault(key, self._rounds)
        self._done.update((entry[0], entry) for entry in common)
        self._rounds += 1
        if self._alike >= self._wanted and self._last == set(self._done.values()):  # the next step begins
            self._cycle, self._next = self._best, 0

    def spoilt(self) -> None:
        """Something was done that isn't the same each time."""
        self._forget()

    def _end_step(self) -> None:
        """A step is over, for one of its keys comes again. What some process had in a round needs nothing of that
        round's results: it can be reduced with it.
        """
        rounds: dict[int, list[Entry]] = {}
        for key, entry in sorted(self._done.items()):
            rounds.setdefault(self._first_told[key], []).append(entry)
        made, step = [rounds[number] for number in sorted(rounds)], frozenset(self._done.values())
        self._alike = self._alike + 1 if step == self._last else 0
        if not self._alike or len(made) <= len(self._best):
            self._best = made
        self._last, self._done, self._first_told, self._rounds = step, {}, {}, 0
