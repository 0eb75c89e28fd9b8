"""Small things of tensorflow.python.util that programs import for themselves: decorators and the names of arguments."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import sys


class TFDecorator:
    """What a decorator made with `make_decorator` says of itself: its name, what it decorates, and the arguments it shows.

    The decorated function carries it as `_tf_decorator`. It is callable itself, so that classes can be decorators.
    """

    def __init__(self, decorator_name, target, decorator_doc="", decorator_argspec=None):
        self.decorator_name = decorator_name
        self.decorated_target = target
        self.decorator_doc = decorator_doc
        self.decorator_argspec = decorator_argspec
        if hasattr(target, "__name__"):
            self.__name__ = target.__name__
        if decorator_doc or getattr(target, "__doc__", None):
            self.__doc__ = decorator_doc or target.__doc__
        if decorator_argspec:
            self.__signature__ = signature_of(decorator_argspec)
        elif callable(target):
            with contextlib.suppress(TypeError, ValueError):  # builtins without a signature
                self.__signature__ = inspect.signature(target)

    def __get__(self, instance, owner):
        return self.decorated_target.__get__(instance, owner)

    def __call__(self, *args, **kwargs):
        return self.decorated_target(*args, **kwargs)


def signature_of(argspec) -> inspect.Signature:
    """An argument list as `getargspec` gives it, as a signature."""
    kinds = inspect.Parameter
    defaults = argspec.defaults or ()
    without = len(argspec.args) - len(defaults)
    parameters = [
        kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=defaults[i - without] if i >= without else kinds.empty)
        for i, name in enumerate(argspec.args)
    ]
    if argspec.varargs:
        parameters.append(kinds(argspec.varargs, kinds.VAR_POSITIONAL))
    for name in getattr(argspec, "kwonlyargs", ()):
        default = (argspec.kwonlydefaults or {}).get(name, kinds.empty)
        parameters.append(kinds(name, kinds.KEYWORD_ONLY, default=default))
    keywords = getattr(argspec, "varkw", None) or getattr(argspec, "keywords", None)
    if keywords:
        parameters.append(kinds(keywords, kinds.VAR_KEYWORD))
    return inspect.Signature(parameters)


def make_decorator(target, decorator_func, decorator_name=None, decorator_doc="", decorator_argspec=None):
    """`decorator_func` with the name and documentation of what it decorates, and a TFDecorator that describes both.

    Without a `decorator_name` it is that of the function that calls this one: the decorator.
    """
    decorator = TFDecorator(decorator_name or sys._getframe(1).f_code.co_name, target, decorator_doc, decorator_argspec)
    decorator_func._tf_decorator = decorator
    for name in ("__name__", "__module__"):
        if hasattr(target, name):
            setattr(decorator_func, name, getattr(target, name))
    if signature := getattr(decorator, "__signature__", None):
        decorator_func.__signature__ = signature
    decorator_func.__doc__ = decorator.__doc__
    decorator_func.__wrapped__ = decorator_func.__original_wrapped__ = target
    return decorator_func


def unwrap(maybe_tf_decorator):
    """([what the decorators around it say of themselves], what they decorate); other wrappers stay as they are."""
    around = []
    while True:
        if isinstance(maybe_tf_decorator, TFDecorator):
            around.append(maybe_tf_decorator)
        elif isinstance(getattr(maybe_tf_decorator, "_tf_decorator", None), TFDecorator):
            around.append(maybe_tf_decorator._tf_decorator)
        else:
            return around, maybe_tf_decorator
        maybe_tf_decorator = around[-1].decorated_target


def rewrap(decorator_func, previous_target, new_target):
    """Let decorators that wrap `previous_target` wrap `new_target`; gives the outermost, or `new_target` where none does."""
    around = []
    function = decorator_func
    while function is not previous_target and hasattr(function, "_tf_decorator"):
        around.append(function)
        function = function._tf_decorator.decorated_target
    if not around:
        return new_target
    innermost = around[-1]
    innermost._tf_decorator.decorated_target = new_target
    if hasattr(innermost, "__wrapped__"):
        innermost.__wrapped__ = new_target
    return decorator_func


def contextmanager(target):
    """contextlib.contextmanager, as a decorator that says what it decorates."""
    return make_decorator(target, contextlib.contextmanager(target), "contextmanager")


def keyword_args_only(func):
    """The function, refusing arguments that come by position."""
    if not callable(func):
        raise ValueError(f"{func!r} is no function: is a decorator of it in the wrong order?")

    @functools.wraps(func)
    def by_keyword(*args, **kwargs):
        if args:
            raise ValueError(
                f"The function {func.__name__} only accepts keyword arguments. Do not pass positional arguments: {args}"
            )
        return func(**kwargs)

    return by_keyword


def fn_args(fn) -> tuple[str, ...]:
    """The names of a callable's own arguments: without `self` of methods and objects, and those that a partial has
    bound.
    """
    if isinstance(fn, functools.partial):
        unbound = fn_args(fn.func)[len(fn.args) :]
        return tuple(name for name in unbound if name not in (fn.keywords or {}))
    if not inspect.isroutine(fn) and not inspect.isclass(fn) and callable(fn):
        fn = fn.__call__
    spec = inspect.getfullargspec(inspect.unwrap(fn))
    names = [*spec.args, *spec.kwonlyargs]
    return tuple(names[1:] if inspect.ismethod(fn) else names)


def has_kwargs(fn) -> bool:
    """Whether a callable takes any keyword arguments (`**kwargs`)."""
    if isinstance(fn, functools.partial):
        return has_kwargs(fn.func)
    if not callable(fn):
        raise TypeError(f"Argument fn should be a callable. Found: {type(fn)}")
    return any(p.kind is inspect.Parameter.VAR_KEYWORD for p in inspect.signature(fn).parameters.values())


def get_func_name(func) -> str:
    """A name to show for a callable: a method's with its class."""
    if not callable(func):
        raise ValueError("Argument must be callable")
    if isinstance(func, functools.partial):
        return str(type(func))
    inner = inspect.unwrap(func)
    return getattr(inner, "__qualname__" if inspect.ismethod(inner) else "__name__", str(type(func)))


def make_all(module_name, doc_string_modules=None) -> list[str]:
    """The names of a module already imported that lines `@@name` of its docstring, or of other modules', speak of.

    Everflow's own modules don't list their names so; theirs are all that are public.
    """
    module = sys.modules[module_name]
    if doc_string_modules is None and module_name.partition(".")[0] == "everflow":
        return sorted(name for name, value in vars(module).items() if name[0] != "_" and not inspect.ismodule(value))
    documents = [module] if doc_string_modules is None else doc_string_modules
    named = {
        name for document in documents for name in re.findall(r"^@@([\w.]+)$", document.__doc__ or "", re.MULTILINE)
    }
    return sorted(named & set(dir(module)))


def get_func_code(func):
    """The code object of a callable, of an object's `__call__` too; None for what has none."""
    _, target = unwrap(func)
    if callable(target) and not inspect.isroutine(target) and not inspect.isclass(target):
        target = target.__call__
    if not callable(target):
        raise ValueError(f"A function is wanted, not {func!r}.")
    return getattr(inspect.unwrap(target), "__code__", None)


_hidden: dict = {}  # {"module.name": (the module, what was called so)}


def remove_undocumented(module_name, allowed_exception_list=None, doc_string_modules=None):
    """Take the public names from a module that neither its documentation (see `make_all`) nor the list of exceptions has.

    Everflow's own modules keep theirs: what they import is not what they show.
    """
    if module_name.partition(".")[0] == "everflow":
        return
    module = sys.modules[module_name]
    kept = {*make_all(module_name, doc_string_modules), *(allowed_exception_list or ())}
    for name in [name for name in vars(module) if not name.startswith("_") and name not in kept]:
        _hidden[f"{module_name}.{name}"] = module, getattr(module, name)
        delattr(module, name)


def reveal_undocumented(symbol_name, target_module=None):
    """Bring back a name that `remove_undocumented` took, into its module or another."""
    if symbol_name not in _hidden:
        raise LookupError(f"{symbol_name} is no name that was taken from its module")
    module, value = _hidden[symbol_name]
    setattr(target_module or module, symbol_name.rpartition(".")[2], value)
