"""Python's collector rests while much is made, and goes on after."""

import gc

import pytest

from everflow.platform.collecting import without_collecting


def test_it_rests_inside_and_goes_on_after():
    with without_collecting():
        assert not gc.isenabled()
        with without_collecting():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_goes_on_after_an_error():
    @without_collecting()
    def fails():
        raise ValueError(gc.isenabled())

    with pytest.raises(ValueError, match="False"):
        fails()
    assert gc.isenabled()


def test_what_the_program_switched_off_stays_off():
    gc.disable()
    try:
        with without_collecting():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
