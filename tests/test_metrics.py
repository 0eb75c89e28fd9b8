"""The figures of `make metrics` stay within their bounds; whoever makes one better moves its bound."""

import pytest

from tests import source_figures as metrics


@pytest.mark.parametrize("figure", metrics.BOUNDS, ids=lambda figure: figure.__name__)
def test_figures_stay_low(figure):
    assert figure() <= metrics.BOUNDS[figure]


@pytest.mark.parametrize("figure", metrics.AT_LEAST, ids=lambda figure: figure.__name__)
def test_figures_stay_high(figure):
    assert figure() >= metrics.AT_LEAST[figure]
