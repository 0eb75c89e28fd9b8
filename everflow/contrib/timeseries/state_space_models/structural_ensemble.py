"""A level with a trend, an autoregression and cycles, added up."""

from __future__ import annotations

from everflow.contrib.timeseries.state_space_models.configuration import StateSpaceModelConfiguration
from everflow.contrib.timeseries.state_space_models.ensembles import (
    StateSpaceCorrelatedFeaturesEnsemble,
    StateSpaceIndependentEnsemble,
)
from everflow.contrib.timeseries.state_space_models.level_trend import AdderStateSpaceModel
from everflow.contrib.timeseries.state_space_models.periodic import CycleStateSpaceModel, ResolutionCycleModel
from everflow.contrib.timeseries.state_space_models.varma import VARMA
from everflow.ops.variables.scope import variable_scope


def _of_each_feature(make, configuration, feature_configuration):
    """An ensemble of a model for each feature, which `make(configuration=...)` makes."""
    members = []
    for number in range(configuration.num_features):
        with variable_scope(f"feature{number}"):
            members.append(make(configuration=feature_configuration))
    return StateSpaceCorrelatedFeaturesEnsemble(ensemble_members=members, configuration=configuration)


def _replicate_level_trend_models(multivariate_configuration, univariate_configuration):
    """Levels with trends, one for each feature, whose noises go together."""
    with variable_scope("adder"):
        return _of_each_feature(AdderStateSpaceModel, multivariate_configuration, univariate_configuration)


def _members(cycles, moving_average_order, autoregressive_order, use_level_noise, configuration):
    """The members of a structural ensemble; `cycles` are functions that make one of a configuration."""
    # The ensemble adds noise to observations, its members don't, and it alone looks at further features.
    member = configuration._replace(use_observation_noise=False)
    feature = member._replace(num_features=1)
    members = []
    with variable_scope("adder"):
        members.append(
            _of_each_feature(
                lambda configuration: AdderStateSpaceModel(use_level_noise, configuration=configuration),
                member,
                feature,
            )
        )
    with variable_scope("varma"):
        members.append(
            VARMA(
                autoregressive_order=autoregressive_order,
                moving_average_order=moving_average_order,
                configuration=member,
            )
        )
    for number, cycle in enumerate(cycles):
        with variable_scope(f"cycle{number}"):
            members.append(_of_each_feature(cycle, member, feature))
    return members


def _listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


class StructuralEnsemble(StateSpaceIndependentEnsemble):
    """Level, trend, autoregression and cycles of whole lengths.

    Args:
        periodicities: How many steps the periods have, a number or a list of them.
        moving_average_order: On the noise of how many earlier steps values depend.
        autoregressive_order: On how many earlier values they depend.
        use_level_noise: Whether noise is added to the level, besides that of the trend.
        configuration: A `StateSpaceModelConfiguration`.
    """

    def __init__(
        self,
        periodicities,
        moving_average_order,
        autoregressive_order,
        use_level_noise=True,
        configuration=StateSpaceModelConfiguration(),  # noqa: B008  A tuple.
    ):
        cycles = [
            lambda configuration, length=length: CycleStateSpaceModel(length, configuration=configuration)
            for length in _listed(periodicities)
        ]
        super().__init__(
            ensemble_members=_members(
                cycles, moving_average_order, autoregressive_order, use_level_noise, configuration
            ),
            configuration=configuration,
        )


class MultiResolutionStructuralEnsemble(StateSpaceIndependentEnsemble):
    """Level, trend, autoregression and cycles of any lengths, of each of which a few values are kept.

    Args:
        cycle_num_latent_values: How many values are kept of a cycle, a number or a list of them for all cycles.
        moving_average_order: On the noise of how many earlier steps values depend.
        autoregressive_order: On how many earlier values they depend.
        periodicities: How many steps the periods have, a number or a list of them.
        use_level_noise: Whether noise is added to the level, besides that of the trend.
        configuration: A `StateSpaceModelConfiguration`.
    """

    def __init__(
        self,
        cycle_num_latent_values,
        moving_average_order,
        autoregressive_order,
        periodicities,
        use_level_noise=True,
        configuration=StateSpaceModelConfiguration(),  # noqa: B008  A tuple.
    ):
        lengths = _listed(periodicities)
        kept = cycle_num_latent_values
        kept = list(kept) if isinstance(kept, (list, tuple)) else [kept] * len(lengths)
        if len(kept) != len(lengths):
            raise ValueError(
                f"Each cycle keeps a number of values: {len(lengths)} periodicities, {len(kept)} cycle_num_latent_values"
            )
        cycles = [
            lambda configuration, values=values, length=length: ResolutionCycleModel(
                num_latent_values=values, periodicity=length, configuration=configuration
            )
            for values, length in zip(kept, lengths, strict=True)
        ]
        super().__init__(
            ensemble_members=_members(
                cycles, moving_average_order, autoregressive_order, use_level_noise, configuration
            ),
            configuration=configuration,
        )
