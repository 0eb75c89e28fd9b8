"""The table of steps."""

from everflow.kernels import registry
from everflow.runtime.plan.native import loops
from everflow.runtime.plan.native.steps import MAKES, STEPS
from everflow.runtime.plan.program import IF, LOOP


def test_steps_are_those_of_ops_that_exist():
    assert loops.Translator.loop is STEPS[LOOP]
    assert [t for t in STEPS if t not in (LOOP, IF) and registry.lookup(t) is None] == []


def test_what_makes_its_result_is_a_step():
    assert set(STEPS) > MAKES
