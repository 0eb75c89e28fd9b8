"""Threads stay awake for a moment, or as the environment says."""

import pytest

from everflow.platform import spinning


def test_a_moment():
    environment = {}
    spinning.choose_spinning(environment)
    assert environment == {"GOMP_SPINCOUNT": spinning.TURNS}


@pytest.mark.parametrize("said", [{"GOMP_SPINCOUNT": "7"}, {"OMP_WAIT_POLICY": "active"}])
def test_environment_decides_before(said):
    environment = dict(said)
    spinning.choose_spinning(environment)
    assert environment == said
