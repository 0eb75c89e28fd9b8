"""State space models put together: what is seen is the sum of what is seen of the members."""

from __future__ import annotations

from everflow.contrib.timeseries.matrices import block_diagonal
from everflow.contrib.timeseries.state_space_models.state_space_model import StateSpaceModel
from everflow.ops import array, math
from everflow.ops.variables.scope import variable_scope


class StateSpaceEnsemble(StateSpaceModel):
    """Members whose states stand one after the other in one state.

    Args:
        ensemble_members: The models.
        configuration: A `StateSpaceModelConfiguration`, of the whole.
    """

    def __init__(self, ensemble_members, configuration):
        self._ensemble_members = ensemble_members
        super().__init__(configuration=configuration)

    def _set_input_statistics(self, input_statistics):
        super()._set_input_statistics(input_statistics)
        for member in self._ensemble_members:
            member._set_input_statistics(input_statistics)

    def _loss_additions(self, times, values, mode):
        own = super()._loss_additions(times, values, mode)
        return own + math.add_n([member._loss_additions(times, values, mode) for member in self._ensemble_members])

    def _compute_blocked(self, member_fn, name):
        """What a function gives for each member, along the diagonal of a matrix."""
        with variable_scope(self._variable_scope):
            return block_diagonal([member_fn(member) for member in self._ensemble_members], dtype=self.dtype, name=name)

    def transition_to_powers(self, powers):
        return self._compute_blocked(
            lambda member: member.transition_to_powers(powers), name="ensemble_transition_to_powers"
        )

    def _define_parameters(self, observation_transition_tradeoff_log=None):
        with variable_scope(self._variable_scope):
            if observation_transition_tradeoff_log is None:
                # One for all, so that members and the noise of observations are weighed together.
                observation_transition_tradeoff_log = self._variable_observation_transition_tradeoff_log()
            for member in self._ensemble_members:
                member._define_parameters(observation_transition_tradeoff_log=observation_transition_tradeoff_log)
            super()._define_parameters(observation_transition_tradeoff_log=observation_transition_tradeoff_log)

    def random_model_parameters(self, seed=None):
        found = {}
        for number, member in enumerate(self._ensemble_members):
            found.update(member.random_model_parameters(seed=None if seed is None else seed + number))
        found.update(super().random_model_parameters(seed=seed))
        return found

    def get_prior_mean(self):
        return array.concat(
            [member.get_prior_mean() for member in self._ensemble_members], axis=0, name="ensemble_prior_state_mean"
        )

    def get_state_transition(self):
        return self._compute_blocked(lambda member: member.get_state_transition(), name="ensemble_state_transition")

    def get_noise_transform(self):
        return self._compute_blocked(lambda member: member.get_noise_transform(), name="ensemble_noise_transform")

    def get_observation_model(self, times):
        raise NotImplementedError("Members may see a state differently: use get_broadcasted_observation_model")

    def get_broadcasted_observation_model(self, times):
        with variable_scope(self._variable_scope):
            return array.concat(
                [member.get_broadcasted_observation_model(times) for member in self._ensemble_members], axis=2
            )


class StateSpaceIndependentEnsemble(StateSpaceEnsemble):
    """Members whose noises have nothing to do with each other."""

    def transition_power_noise_accumulator(self, num_steps):
        return self._compute_blocked(
            lambda member: member.transition_power_noise_accumulator(num_steps),
            name="ensemble_power_noise_accumulator",
        )

    def get_prior_covariance(self):
        return self._compute_blocked(
            lambda member: member.get_prior_covariance(), name="ensemble_prior_state_covariance"
        )

    def get_state_transition_noise_covariance(self):
        return self._compute_blocked(
            lambda member: member.state_transition_noise_covariance, name="ensemble_state_transition_noise"
        )


class StateSpaceCorrelatedFeaturesEnsemble(StateSpaceEnsemble):
    """A member for each feature, whose noises go together.

    Args:
        ensemble_members: The models, of one feature each.
        configuration: A `StateSpaceModelConfiguration` of as many features.
    """

    def __init__(self, ensemble_members, configuration):
        if len(ensemble_members) != configuration.num_features:
            raise ValueError(
                f"There is a model for each feature: {configuration.num_features} features, {len(ensemble_members)} models"
            )
        super().__init__(ensemble_members=ensemble_members, configuration=configuration)

    def transition_power_noise_accumulator(self, num_steps):
        # Of one feature alone, the member may know a faster way.
        if len(self._ensemble_members) == 1:
            return self._ensemble_members[0].transition_power_noise_accumulator(num_steps)
        return super().transition_power_noise_accumulator(num_steps)

    def get_broadcasted_observation_model(self, times):
        with variable_scope(self._variable_scope):
            return block_diagonal(
                [member.get_broadcasted_observation_model(times) for member in self._ensemble_members],
                dtype=self.dtype,
                name="feature_ensemble_observation_model",
            )
