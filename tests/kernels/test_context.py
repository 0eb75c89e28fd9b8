"""What kernels rely on of nodes, sessions and runs is there in the classes that the runtime has for them."""

import pytest

from everflow.kernels import context
from everflow.runtime import state
from everflow.runtime.plan.program import Node

SESSION = state.SessionState()


@pytest.mark.parametrize(
    ("protocol", "found"),
    [
        (context.Node, Node(0, None, "zero", "NoOp")),
        (context.Session, SESSION),
        (context.Resources, SESSION.resources),
        (context.RandomStreams, SESSION.random),
        (context.Step, state.Step(SESSION)),
    ],
)
def test_kernels_find_what_they_ask_for(protocol, found):
    asked = {name for name in (*protocol.__annotations__, *vars(protocol)) if not name.startswith("_")}
    assert asked and asked <= set(dir(found))
