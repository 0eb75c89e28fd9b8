"""What tests of type hints share: the names a protocol asks for, and those that the package imports of a module."""

import pathlib

import everflow
from everflow.framework.lazy_names import imported_names


def missing(protocol: type, made: object) -> list[str]:
    """What a protocol asks for and an object doesn't have."""
    asked = {name for name in vars(protocol) if not name.startswith("_")}
    asked |= set(vars(protocol).get("__annotations__", {}))
    assert asked, protocol
    return sorted(name for name in asked if not hasattr(made, name))


def imported_of(module: str) -> set[str]:
    """The names of a module that files of the package import."""
    files = pathlib.Path(everflow.__file__).parent.rglob("*.py")
    return {name for file in files for source, name in imported_names(str(file)).values() if source == module}
