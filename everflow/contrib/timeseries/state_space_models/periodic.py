"""Cycles: values that sum to zero over a period and come again, of a whole length or of any."""

from __future__ import annotations

import math as numbers

from everflow.contrib.timeseries.state_space_models.configuration import StateSpaceModelConfiguration
from everflow.contrib.timeseries.state_space_models.state_space_model import StateSpaceModel
from everflow.framework import dtypes
from everflow.framework.conversion import convert_to_tensor
from everflow.ops import array, math
from everflow.ops.array.diagonals import matrix_diag
from everflow.ops.control_flow import cond


class CycleStateSpaceModel(StateSpaceModel):
    """A value for each step of a period, but the last, which is what makes their sum zero.

    Args:
        periodicity: How many steps a period has.
        configuration: A `StateSpaceModelConfiguration`.
    """

    def __init__(self, periodicity, configuration=StateSpaceModelConfiguration()):  # noqa: B008  A tuple.
        self._periodicity = periodicity
        super().__init__(configuration=configuration)

    def get_state_transition(self):
        return self.transition_to_powers(array.ones([], dtype=dtypes.int32))

    def get_noise_transform(self):
        return array.pad(array.ones([1], dtype=self.dtype), paddings=[(0, self._periodicity - 2)])[..., None]

    def get_observation_model(self, times):
        return array.concat(
            [array.ones([1], dtype=self.dtype), array.zeros([self._periodicity - 2], dtype=self.dtype)], axis=0
        )

    def _along(self, size, like):
        """0, 1, ... `size - 1` in the last dimension, after those of `like`."""
        places = math.range(size, dtype=like.dtype)
        ones = array.ones([array.rank(like)], dtype=dtypes.int32)
        return array.reshape(places, array.concat([ones, [size]], axis=0))

    def transition_to_powers(self, powers):
        turned = powers % self._periodicity
        places = self._along(self._periodicity - 1, powers)
        # The value that isn't in the state is minus the sum of those that are.
        missing = math.equal(places + 1, turned[..., None])
        shape = array.shape(missing)
        missing = array.where(missing, -array.ones(shape, dtype=self.dtype), array.zeros(shape, dtype=self.dtype))
        moved = math.equal((places[..., None] - places[..., None, :]) % self._periodicity, turned[..., None, None])
        moved = array.where(
            moved,
            array.ones(array.shape(moved), dtype=self.dtype),
            array.zeros(array.shape(moved), dtype=self.dtype),
        )
        return moved + missing[..., None]

    def transition_power_noise_accumulator(self, num_steps, noise_addition_coefficient=1):
        """The covariance that steps add, `[..., state, state]`.

        Args:
            num_steps: Numbers of steps, `[...]`.
            noise_addition_coefficient: What the noise of a step is multiplied by.
        """
        noise = array.squeeze(self.state_transition_noise_covariance, axis=[-1, -2])
        places = self._along(self._periodicity, num_steps)
        turned = (places - (num_steps[..., None] - 1)) % self._periodicity
        added = convert_to_tensor(noise_addition_coefficient, dtype=self.dtype)[..., None] * noise
        # How often each step of the period came by, and got noise.
        counts = (num_steps[..., None] + turned) // self._periodicity
        sums = added * math.cast(counts, self.dtype)
        on_diagonal = matrix_diag(sums)
        right = array.concat([array.zeros_like(on_diagonal[..., :-1, 0:1]), -on_diagonal[..., :-1, 0:-2]], axis=-1)
        below = array.concat([array.zeros_like(on_diagonal[..., 0:1, :-1]), -on_diagonal[..., 0:-2, :-1]], axis=-2)
        neighbours = array.concat([sums[..., -1:], sums[..., :-2]], axis=-1)
        return matrix_diag(sums[..., :-1] + neighbours) + below + right


class ResolutionCycleModel(CycleStateSpaceModel):
    """A cycle of any length, whose values are interpolated between a few that are kept.

    Args:
        num_latent_values: How many values are kept, an odd number.
        periodicity: How many steps a period has, also not a whole number.
        near_integer_threshold: How far from a whole number still counts as one.
        configuration: A `StateSpaceModelConfiguration`.
    """

    def __init__(
        self,
        num_latent_values,
        periodicity,
        near_integer_threshold=1e-8,
        configuration=StateSpaceModelConfiguration(),  # noqa: B008  A tuple.
    ):
        if num_latent_values % 2 != 1:
            raise ValueError(f"Interpolation needs an odd number of values, not num_latent_values={num_latent_values}")
        self._num_latent_values, self._true_periodicity = num_latent_values, periodicity
        self._near_integer_threshold = near_integer_threshold
        # A whole turn is one through the values that are kept.
        super().__init__(periodicity=num_latent_values, configuration=configuration)

    def _close_to_integer(self, value):
        return math.abs(value - math.round(value)) < self._near_integer_threshold

    def _values_and_ratio(self):
        """How many values are kept, and how many of them a step goes on by."""
        values = math.cast(self._num_latent_values, dtype=self.dtype)
        return values, values / math.cast(self._true_periodicity, dtype=self.dtype)

    def transition_to_powers(self, powers):
        values, ratio = self._values_and_ratio()
        turned = math.cast(powers, self.dtype) * ratio
        height = math.sin(turned * numbers.pi) / values
        scale = height[..., None, None]
        places = array.reshape(
            math.range(self._num_latent_values - 1),
            array.concat([array.ones([array.rank(powers)], dtype=dtypes.int32), [self._num_latent_values - 1]], axis=0),
        )
        position = math.cast(places, self.dtype)
        sign = math.cast(1 - 2 * (places % 2), self.dtype)
        missing = 1.0 / math.sin(numbers.pi / values * (turned[..., None] - position - 1.0))
        distance = position[..., None, :] - position[..., None]
        kept = sign[..., None, :] / math.sin(numbers.pi / values * (turned[..., None, None] + distance))
        between = scale * sign[..., None] * (missing[..., None] + kept)
        # The formula divides by zero where no interpolation is needed.
        whole = self._close_to_integer(turned)
        return array.where(whole, super().transition_to_powers(math.cast(math.round(turned), dtypes.int64)), between)

    def _whole_period_folding(self):
        """Whether whole periods can be counted, and the rest summed up: a whole length, not below the values kept."""
        whole = self._close_to_integer(math.cast(self._true_periodicity, dtype=self.dtype))
        return math.logical_and(whole, math.greater_equal(self._true_periodicity, self._num_latent_values))

    def _power_sum_array(self, max_remaining_steps):
        """`[max_remaining_steps + 1, state, state]`: the covariance, for noise of 1, that so many steps add."""
        values, ratio = self._values_and_ratio()
        turned = math.cast(math.range(max_remaining_steps), self.dtype) * ratio
        places = math.range(self._num_latent_values - 1)[None, ...]
        position = math.cast(places, self.dtype)

        def inverse(distance):
            return 1.0 / math.sin(numbers.pi / values * distance)

        away = turned[..., None] - position
        slopes = inverse(away) + inverse(away - 1.0)
        products = slopes[..., None, :] * slopes[..., None]
        sign = math.cast(1 - 2 * ((places[..., None, :] + places[..., None]) % 2), self.dtype)

        def whole_turns(distance):
            """Where a distance is a whole number of turns, and the sign that the limit has there."""
            turns = distance / values
            return self._close_to_integer(turns), math.cos(turns * numbers.pi)

        here, here_sign = whole_turns(turned[..., None] - position)
        next_to, next_sign = whole_turns(turned[..., None] - position - 1.0)
        limit = math.logical_or(here, next_to)
        limit_sign = array.where(here, here_sign, next_sign)
        both = math.logical_and(limit[..., None], limit[..., None, :])
        products = array.where(self._close_to_integer(turned), array.zeros_like(products), products)
        height = math.sin(numbers.pi * turned) / values
        limits = limit_sign[..., None] * limit_sign[..., None, :]
        found = sign * array.where(both, limits, products * height[..., None, None] ** 2.0)
        return array.pad(math.cumsum(found, axis=0), [[1, 0], [0, 0], [0, 0]])

    def transition_power_noise_accumulator(self, num_steps):
        size = self._num_latent_values - 1

        def folded():
            steps_of_a_value = math.cast(self._true_periodicity, self.dtype) / math.cast(
                self._num_latent_values, self.dtype
            )
            period = super(ResolutionCycleModel, self).transition_power_noise_accumulator(
                num_steps=convert_to_tensor(self._num_latent_values, dtype=num_steps.dtype),
                noise_addition_coefficient=steps_of_a_value,
            )
            length = math.cast(self._true_periodicity, dtype=num_steps.dtype)
            periods = math.cast(num_steps // length, self.dtype)[..., None, None]
            ones = array.ones([array.rank(num_steps)], dtype=dtypes.int32)
            whole = periods * array.reshape(period, array.concat([ones, array.shape(period)], axis=0))
            return num_steps % length, whole

        def unfolded():
            nothing = array.zeros(array.concat([array.shape(num_steps), [size, size]], axis=0), dtype=self.dtype)
            return num_steps, nothing

        remaining, whole = cond(self._whole_period_folding(), folded, unfolded)
        sums = self._power_sum_array(math.reduce_max(remaining))
        noise = array.squeeze(self.state_transition_noise_covariance, axis=[-1, -2])
        return whole + noise * array.gather(sums, indices=remaining)
