"""`core.function_wrappers`, `core.ag_ctx` and `core.config`: the context that a converted function's body runs in, whether
conversion is wanted where a program is, and of which modules.
"""

from __future__ import annotations

import contextlib
import enum
import threading

from everflow.framework import nest
from everflow.framework.operation import Tensor
from everflow.framework.scopes import executing_eagerly, name_scope
from everflow.legacy.inner.autograph.converters import ConversionOptions
from everflow.ops.autograph.calls import scope_name_of
from everflow.ops.autograph.features import Feature
from everflow.ops.control_flow.automatic_dependencies import AutomaticControlDependencies


class FunctionScope:
    """What the body of a converted function is in: a name scope and an order of what it does, as its options ask for."""

    def __init__(self, function_name, scope_name, options):
        self.name, self.options = scope_name, options
        self.use_name_scope = options.uses(Feature.NAME_SCOPES) and not executing_eagerly()
        self.use_auto_deps = options.uses(Feature.AUTO_CONTROL_DEPS)
        self.callopts = options.call_options()
        self._named = name_scope(scope_name_of(function_name)) if self.use_name_scope else contextlib.nullcontext()
        self._order = AutomaticControlDependencies() if self.use_auto_deps else None
        self._entered: contextlib.ExitStack | None = None

    def __enter__(self):
        with contextlib.ExitStack() as entered:
            entered.enter_context(self._named)
            if self._order is not None:
                entered.enter_context(self._order)
            self._entered = entered.pop_all()
        return self

    def __exit__(self, *raised):
        return self._entered.__exit__(*raised)

    def mark_return_value(self, value):
        """The result, which comes after all that the function does."""
        if self._order is None:
            return value

        def after(part):
            return self._order.mark_as_return(part) if isinstance(part, Tensor) and not part.is_eager else part

        return nest.map_structure(after, value, expand_composites=True)


def with_function_scope(thunk, scope_name, options):
    """What a function of a FunctionScope gives, inside of it."""
    with FunctionScope("lambda_", scope_name, options) as scope:
        return thunk(scope)


class Status(enum.Enum):
    """Whether conversion is wanted."""

    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


class ControlStatusCtx:
    """A context in which conversion is wanted, or not."""

    def __init__(self, status, options=None):
        self.status, self.options = status, options

    def __enter__(self):
        _control_ctx().append(self)
        return self

    def __exit__(self, *raised):
        left = _control_ctx().pop()
        assert left is self, "contexts are left in the order in which they were entered"


stacks = threading.local()


def _control_ctx():
    """The contexts of this thread, outermost first."""
    if not hasattr(stacks, "control_status"):
        stacks.control_status = [ControlStatusCtx(Status.UNSPECIFIED)]
    return stacks.control_status


def control_status_ctx():
    """The innermost context."""
    return _control_ctx()[-1]


class Action(enum.Enum):
    """What a rule says of a module."""

    NONE = 0
    CONVERT = 1
    DO_NOT_CONVERT = 2


class Rule:
    """What to do with modules whose names begin so."""

    action = Action.NONE

    def __init__(self, module_prefix):
        self._prefix = module_prefix

    def matches(self, module_name):
        """Whether it is about a module of this name."""
        return module_name == self._prefix or module_name.startswith(f"{self._prefix}.")

    def get_action(self, module):
        """What it says of a module."""
        return self.action if self.matches(module.__name__) else Action.NONE

    def __str__(self):
        return f"{type(self).__name__} rule for {self._prefix}"


class Convert(Rule):
    """Modules whose functions are converted."""

    action = Action.CONVERT


class DoNotConvert(Rule):
    """Modules whose functions stay what they are."""

    action = Action.DO_NOT_CONVERT


_NOT_PROGRAMS = (
    "collections copy cProfile inspect ipdb linecache mock pathlib pdb posixpath pstats re threading "
    "numpy tensorflow everflow tensorflow_probability tensorflow_datasets.core"
)
CONVERSION_RULES = tuple(DoNotConvert(name) for name in _NOT_PROGRAMS.split())

__all__ = [
    "CONVERSION_RULES",
    "Action",
    "ControlStatusCtx",
    "Convert",
    "ConversionOptions",
    "DoNotConvert",
    "FunctionScope",
    "Rule",
    "Status",
    "control_status_ctx",
    "stacks",
    "with_function_scope",
]
