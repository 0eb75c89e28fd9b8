"""Names of Python 2: its built-in functions, modules under their old names, and functions that have moved."""

from __future__ import annotations

import builtins
import functools
import importlib
import importlib.abc
import io
import itertools
import pickle
import subprocess
import sys
import types
import urllib.parse
from typing import Any

from everflow.platform.module_alias import alias_spec

# A module's name in Python 2: in Python 3.
MODULES = {
    "Queue": "queue",
    "ConfigParser": "configparser",
    "SocketServer": "socketserver",
    "HTMLParser": "html.parser",
    "httplib": "http.client",
    "cookielib": "http.cookiejar",
    "BaseHTTPServer": "http.server",
    "SimpleHTTPServer": "http.server",
    "urlparse": "urllib.parse",
    "Tkinter": "tkinter",
    "tkMessageBox": "tkinter.messagebox",
    "tkFileDialog": "tkinter.filedialog",
    "copy_reg": "copyreg",
    "thread": "_thread",
    "__builtin__": "builtins",
    "UserDict": "collections",
    "repr": "reprlib",
    "cPickle": "",  # these have more to say: `_made`
    "StringIO": "",
    "cStringIO": "",
    "urllib2": "",
    "commands": "",
}
# Functions that Python 3 has elsewhere: module.name, where it is now.
MOVED = {
    "itertools.izip": "builtins.zip",
    "itertools.imap": "builtins.map",
    "itertools.ifilter": "builtins.filter",
    "itertools.izip_longest": "itertools.zip_longest",
    "itertools.ifilterfalse": "itertools.filterfalse",
    "os.getcwdu": "os.getcwd",
    "string.letters": "string.ascii_letters",
    "string.lowercase": "string.ascii_lowercase",
    "string.uppercase": "string.ascii_uppercase",
    "string.maketrans": "builtins.str.maketrans",
    "sys.maxint": "sys.maxsize",
    "urllib.urlopen": "urllib.request.urlopen",
    "urllib.urlretrieve": "urllib.request.urlretrieve",
    "urllib.urlencode": "urllib.parse.urlencode",
    "urllib.quote": "urllib.parse.quote",
    "urllib.unquote": "urllib.parse.unquote",
    "urllib.quote_plus": "urllib.parse.quote_plus",
}
# Methods that went, and how their values are had now.
METHODS = {
    "iteritems": "items()",
    "iterkeys": "keys()",
    "itervalues": "values()",
    "viewitems": "items()",
    "viewkeys": "keys()",
    "viewvalues": "values()",
    "has_key": "`in`",
    "next": "next(...)",
}


def _cmp(a: Any, b: Any) -> int:
    return (a > b) - (a < b)


def _sorted(values, cmp=None, key=None, reverse=False):
    """`sorted` that takes a function of two values, too."""
    if cmp is not None:
        by_cmp = functools.cmp_to_key(cmp)
        key = (lambda value, inner=key: by_cmp(inner(value))) if key else by_cmp
    return sorted(values, key=key, reverse=reverse)


def _round(number, digits=0):
    """A float, and halves away from zero."""
    shift = 10.0**digits
    return float(int(number * shift + (0.5 if number >= 0 else -0.5)) / shift)


def _execfile(path, names=None):
    """Run a file in a namespace, the caller's by default."""
    with open(path) as file:
        exec(compile(file.read(), path, "exec"), sys._getframe(1).f_globals if names is None else names)


def _map(function, *iterables):
    """A list, which `None` for a function fills up to the longest."""
    return list(itertools.zip_longest(*iterables) if function is None else map(function, *iterables))


BUILTINS: dict[str, Any] = {
    "xrange": range,
    "raw_input": input,
    "input": lambda prompt="": eval(input(prompt), sys._getframe(1).f_globals),
    "unicode": str,
    "basestring": (str, bytes),
    "long": int,
    "unichr": chr,
    "reduce": functools.reduce,
    "file": open,
    "reload": importlib.reload,
    "intern": sys.intern,
    "buffer": memoryview,
    "apply": lambda function, args=(), kwargs=None: function(*args, **(kwargs or {})),
    "cmp": _cmp,
    "sorted": _sorted,
    "round": _round,
    "execfile": _execfile,
    "range": lambda *bounds: list(range(*bounds)),
    "map": _map,
    "filter": lambda function, values: list(filter(function, values)),
    "zip": lambda *values: list(zip(*values)),
}
# Of these, what Python 3 has no more: a NameError of one tells of Python 2.
GONE = frozenset(name for name in BUILTINS if not hasattr(builtins, name))


def _load(file, *args, **kwargs):
    """`pickle.load` that takes files opened as text, and strings of Python 2 as text."""
    return pickle.load(getattr(file, "buffer", file), encoding="latin1")


def _dump(value, file, protocol=2):
    pickle.dump(value, getattr(file, "buffer", file), protocol)


def _string_io(text=""):
    return io.BytesIO(text) if isinstance(text, bytes) else io.StringIO(text)


def _made(name: str) -> dict[str, Any]:
    """What a module has whose name of today isn't all there is to say."""
    if name == "cPickle":
        loads = functools.partial(pickle.loads, encoding="latin1")
        return {**vars(pickle), "load": _load, "loads": loads, "dump": _dump}
    if name == "commands":
        return {"getoutput": subprocess.getoutput, "getstatusoutput": subprocess.getstatusoutput}
    if name == "urllib2":
        request = importlib.import_module("urllib.request")
        return {**vars(importlib.import_module("urllib.error")), **vars(request), "quote": urllib.parse.quote}
    return {"StringIO": _string_io}


class _Finder(importlib.abc.MetaPathFinder):
    """Finds modules by their names of Python 2, after all others had a chance to."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname not in MODULES:
            return None
        if MODULES[fullname]:
            return alias_spec(fullname, importlib.import_module(MODULES[fullname]))
        module = types.ModuleType(fullname, "As in Python 2; see everflow.legacy.py2.")
        vars(module).update({key: value for key, value in _made(fullname).items() if not key.startswith("__")})
        return alias_spec(fullname, module)


def _at(path: str) -> Any:
    """What a path such as `urllib.parse.quote` names."""
    module, _, name = path.rpartition(".")
    owner = builtins.str if module == "builtins.str" else importlib.import_module(module)
    return getattr(owner, name)


def install() -> None:
    """From now on modules can be imported by their names of Python 2, and have the functions they had."""
    sys.meta_path.append(_Finder())
    for old, new in MOVED.items():
        module, _, name = old.partition(".")
        owner = importlib.import_module(module)
        if not hasattr(owner, name):
            setattr(owner, name, _at(new))
