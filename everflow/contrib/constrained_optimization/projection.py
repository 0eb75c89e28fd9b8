"""The nearest point that the multipliers' state may be at, found in turns."""

from __future__ import annotations

from everflow.ops import array, math
from everflow.ops.array.constants import constant
from everflow.ops.control_flow import while_loop


def projected(values, most, shift):
    """Values that are at least zero and add up to what they should: entries below zero become zero and take no part any
    more, the others move by `shift(values, inactive)`, until nothing changes or after `most` turns. `inactive` is 1
    where zero doesn't bound an entry yet.
    """

    def goes_on(iteration, values, inactive, old_inactive):
        del values
        return math.logical_and(iteration < most, math.reduce_any(math.not_equal(inactive, old_inactive)))

    def turn(iteration, values, inactive, old_inactive):
        del old_inactive
        iteration += 1
        values = values + shift(values, inactive) * inactive
        positive = math.cast(values > 0, values.dtype)
        return (iteration, values * positive, positive, inactive)

    iteration = constant(0)
    inactive = array.ones_like(values, dtype=values.dtype)
    first = turn(iteration, values, inactive, inactive)
    return while_loop(goes_on, turn, loop_vars=first, name="euclidean_projection")[1]
