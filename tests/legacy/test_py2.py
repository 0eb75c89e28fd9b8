"""Python 2 programs: told what to change, or run with --py2."""

import ast
import pathlib
import subprocess
import sys

import pytest

from everflow.legacy.py2 import report
from everflow.legacy.py2.meaning import compiled, module_names
from everflow.legacy.py2.syntax import changes, convert


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("print", "print()"),
        ("print x", "print(x)"),
        ("print 'a', b,", "print('a', b, end=\" \")"),
        ("print ('a'), b", "print(('a'), b)"),
        ("print ('a', b)", "print(('a', b))"),
        ("print('a')", "print('a')"),
        ("print('a', file=f)", "print('a', file=f)"),
        ("print >>f, x  # why", "print(x, file=f)  # why"),
        ("if x: print y; print z", "if x: print(y); print(z)"),
        ("f = lambda x: x; print f", "f = lambda x: x; print(f)"),
        ("print '''a\nb''', c", "print('''a\nb''', c)"),
        ("raise E, 'm'", "raise E('m')"),
        ("raise E, 'm', tb", "raise E('m').with_traceback(tb)"),
        ("try: pass\nexcept E, e: pass", "try: pass\nexcept E as e: pass"),
        ("try: pass\nexcept (E, F), e: pass", "try: pass\nexcept (E, F) as e: pass"),
        ("exec s in d", "exec(s, d)"),
        ("0777 + 10L + 0 + 0xFFL", "0o777 + 10 + 0 + 0xFF"),
        ("ur'a' + u'b'", "r'a' + u'b'"),
        ("`a` <> b", "repr(a) != b"),
        ("sorted(x, key=lambda (k, v): v)", "sorted(x, key=lambda _k_v: (lambda k, v: v)(*_k_v))"),
        ("if x:\n\ta\n        b", "if x:\n        a\n        b"),
        ("'print x'  # print x", "'print x'  # print x"),
    ],
)
def test_statements_and_literals(before, after):
    assert convert(before) == after
    assert len(before.splitlines()) == len(after.splitlines())


def test_programs_of_python_3_stay_as_they_are():
    for file in pathlib.Path(ast.__file__).parent.glob("c*.py"):
        source = file.read_text(encoding="utf-8")
        if "print(" not in source:
            assert ast.dump(ast.parse(convert(source))) == ast.dump(ast.parse(source)), file


MEANING = """
import itertools, cPickle, StringIO
class Count:
    def __init__(self): self.n = 0
    def __iter__(self): return self
    def next(self):
        self.n += 1
        if self.n > 3: raise StopIteration
        return self.n
    def __nonzero__(self): return False
d = {'a': 1}
x = 7; x /= 2
assert (x, 7 / 2, -7 / 2, 7 / 2.0) == (3, 3, -4, 3.5)
assert list(Count()) == [1, 2, 3] and Count().next() == 1 and not Count()
assert list(d.iteritems()) == d.items() == [('a', 1)] and d.has_key('a') and d.keys()[0] == 'a'
assert range(2) + [3] == [0, 1, 3] and map(str, xrange(2)) == ['0', '1'] and zip([1], [2])[0] == (1, 2)
assert sorted([1, 3], cmp=lambda a, b: cmp(b, a)) == [3, 1] and round(2.5) == 3.0
assert reduce(lambda a, b: a + b, [1, 2]) == 3 and isinstance(u'x', basestring) and isinstance(3L, long)
assert list(itertools.izip([1], [2])) == [(1, 2)] and cPickle.loads(cPickle.dumps([1])) == [1]
assert StringIO.StringIO('ab').read() == 'ab'
"""


def test_division_says_what_the_program_asked_for():
    names = module_names()
    exec(compiled("from __future__ import division\ny = 7 / 2", "x.py"), names)
    assert names["y"] == 3.5


def run(folder, *args):
    return subprocess.run([sys.executable, "-m", "everflow", "run", *args], capture_output=True, text=True, cwd=folder)


def test_with_py2_a_program_and_its_modules_run(tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("import near\nprint near.half")
    (package / "near.py").write_text("half = 1 / 2\n")
    (tmp_path / "train.py").write_text(
        MEANING + "import package, tensorflow as tf\nprint 'done', tf.Session().run(tf.constant(7) / 2)\n"
    )
    done = run(tmp_path, "--py2", "train.py")
    assert done.stdout == "0\ndone 3\n", done.stderr
    (tmp_path / "by_name.py").write_text("print 'by name'")
    assert run(tmp_path, "--py2", "-m", "by_name").stdout == "by name\n"


def test_without_it_the_changes_are_told(tmp_path):
    (tmp_path / "train.py").write_text("for i in xrange(3):\n\tprint i / 2\n        print i\n")
    done = run(tmp_path, "train.py")
    assert done.returncode == 1
    for line in (
        "train.py is a Python 2 program. Python 3 needs:",
        "  line 1: xrange: range now",
        "  line 2: print i / 2  ->  print(i / 2)",
        "  `/` of two integers was a whole number: // where that is meant (line 2)",
        "everflow run --py2 train.py runs it",
    ):
        assert line in done.stderr


@pytest.mark.parametrize(
    "source", ["xrange(3)", "{}.iteritems()", "import cPickle", "import itertools; itertools.izip"]
)
def test_names_of_python_2_are_told_when_they_fail(tmp_path, source):
    (tmp_path / "train.py").write_text(source)
    done = run(tmp_path, "train.py")
    assert done.returncode == 1 and "`everflow run --py2` runs Python 2 programs" in done.stderr


def test_an_error_of_python_3_is_not_taken_for_python_2():
    assert not report.is_python_2("def f(:\n")
    assert not report.is_python_2("print(x)")
    assert [change.line for change in changes("x = 1\nprint x\n")] == [2]
