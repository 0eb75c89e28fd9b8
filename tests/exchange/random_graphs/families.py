"""The families of random programs, by name."""

from __future__ import annotations

from tests.exchange.random_graphs import (
    arithmetic,
    control_flow,
    datasets,
    distributions,
    estimators,
    keras_models,
    networks,
    ragged,
    tensor_lists,
)

FAMILIES = {
    family.name: family
    for family in (
        arithmetic.FAMILY,
        control_flow.FUNCTIONAL,
        control_flow.PRIMITIVE,
        datasets.FAMILY,
        distributions.FAMILY,
        estimators.FAMILY,
        keras_models.FAMILY,
        networks.FAMILY,
        ragged.FAMILY,
        tensor_lists.FAMILY,
    )
}
