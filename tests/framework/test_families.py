"""Packages whose modules are imported when the first look-up asks, once and whole."""

import sys
import threading

import pytest

from everflow.framework.registry import Families


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with a module, one inside of a package, and one in a package that registers nothing."""
    monkeypatch.syspath_prepend(str(tmp_path))
    root = tmp_path / "family_of_tests"
    for name in ("", "inner", "left_out"):
        (root / name).mkdir(parents=True, exist_ok=True)
        (root / name / "__init__.py").write_text("")
    for path in ("one.py", "inner/two.py", "left_out/three.py"):
        (root / path).write_text("")
    yield root
    for name in [n for n in sys.modules if n.startswith("family_of_tests")]:
        del sys.modules[name]


def loaded() -> set[str]:
    return {n.partition(".")[2] for n in sys.modules if n.startswith("family_of_tests.")}


def test_all_modules_but_those_left_out(package):
    Families("family_of_tests", frozenset(["left_out"])).load()
    assert loaded() == {"one", "inner", "inner.two"}


def test_modules_are_imported_once(package):
    (package / "one.py").write_text("import builtins; builtins.loads_of_one = getattr(builtins, 'loads_of_one', 0) + 1")
    families = Families("family_of_tests")
    families.load()
    del sys.modules["family_of_tests.one"]
    families.load()
    import builtins

    assert builtins.loads_of_one == 1
    del builtins.loads_of_one


def test_a_module_may_look_something_up_while_it_is_imported(package):
    (package / "one.py").write_text("import family_of_tests; family_of_tests.families.load()")
    (package / "__init__.py").write_text(
        "from everflow.framework.registry import Families\nfamilies = Families('family_of_tests')"
    )
    import family_of_tests

    family_of_tests.families.load()
    assert {"one", "inner.two"} <= loaded()


def test_a_module_that_fails_is_tried_again(package):
    (package / "one.py").write_text("raise OSError('not now')")
    families = Families("family_of_tests")
    with pytest.raises(OSError, match="not now"):
        families.load()
    (package / "one.py").write_text("now = 'a file of another size'")
    families.load()
    assert sys.modules["family_of_tests.one"].now


def test_another_thread_waits_until_all_is_there(package):
    (package / "one.py").write_text(
        "import family_of_tests; family_of_tests.reached.set(); family_of_tests.go_on.wait(30)"
    )
    (package / "__init__.py").write_text("import threading\nreached, go_on = threading.Event(), threading.Event()")
    import family_of_tests

    families, seen = Families("family_of_tests"), []
    first = threading.Thread(target=families.load)
    second = threading.Thread(target=lambda: (families.load(), seen.append("left_out.three" in loaded())))
    first.start()
    assert family_of_tests.reached.wait(30)
    second.start()
    family_of_tests.go_on.set()
    first.join(30)
    second.join(30)
    assert seen == [True]
