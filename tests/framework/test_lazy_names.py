"""Packages whose names are loaded when touched."""

import pathlib
import subprocess
import sys

import pytest

import everflow as tf
from everflow.framework import lazy_names
from everflow.framework.lazy_names import add_names, imported_names

ROOT = pathlib.Path(tf.__file__).parent
LAZY = [
    path
    for path in ROOT.rglob("*.py")
    if "lazy_names(__name__, __file__)" in path.read_text() and path.name == "__init__.py"
]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A lazy package in a folder of its own."""
    folder = tmp_path / "gathers"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "from everflow.framework.lazy_names import lazy_names\n"
        "if TYPE_CHECKING:\n"
        "    from gathers import part\n"
        "    from gathers.part import one as uno\n"
        "__getattr__, __dir__ = lazy_names(__name__, __file__)\n"
    )
    (folder / "part.py").write_text("one = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "gathers"
    for name in [name for name in sys.modules if name.split(".")[0] == "gathers"]:
        del sys.modules[name]
    lazy_names._added.pop("gathers", None)


def test_a_name_loads_its_module(package):
    import gathers

    assert "gathers.part" not in sys.modules
    assert gathers.uno == 1 and "gathers.part" in sys.modules
    assert gathers.part.one == 1
    assert {"uno", "part"} <= set(dir(gathers))


def test_floors_above_add_names(package):
    import gathers

    add_names(package, sqrt="math", functions="math:")
    assert gathers.sqrt(4) == 2 and gathers.functions.sqrt is gathers.sqrt
    assert "sqrt" in dir(gathers)


def test_a_name_that_is_not_there(package):
    import gathers

    with pytest.raises(AttributeError, match="module 'gathers' has no attribute 'dos'"):
        gathers.dos  # noqa: B018


@pytest.mark.parametrize("path", LAZY, ids=lambda path: path.parent.name)
def test_no_module_hides_a_name(path):
    """A module that was imported is an attribute of its package: a name that it has in common with a function would be
    lost.
    """
    here = "everflow." + ".".join(path.parent.relative_to(ROOT).parts)
    modules = {p.stem for p in path.parent.glob("*.py")} | {p.name for p in path.parent.iterdir() if p.is_dir()}
    assert not {name for name, (module, _) in imported_names(str(path)).items() if name in modules and module != here}


@pytest.mark.parametrize("path", LAZY, ids=lambda path: path.parent.name)
def test_every_name_is_there(path):
    package = "everflow." + ".".join(path.parent.relative_to(ROOT).parts)
    names = sorted(name for name in imported_names(str(path)) if not name.startswith("_"))
    code = f"import {package} as p; [getattr(p, n) for n in {names!r}]"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT.parent)
