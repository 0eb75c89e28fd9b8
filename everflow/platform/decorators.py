"""Small things of tensorflow.python.util that programs import for themselves: decorators and the names of arguments."""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
import sys


def make_decorator(target, decorator_func, decorator_name=None, decorator_doc="", decorator_argspec=None):
    """`decorator_func` with the name and documentation of what it decorates; its own name is that of the function that
    calls this, where none is given.
    """
    name = decorator_name or sys._getframe(1).f_code.co_name
    made = functools.update_wrapper(decorator_func, target)
    made._tf_decorator = TFDecorator(name, target, decorator_doc, decorator_argspec)
    if decorator_doc:
        made.__doc__ = decorator_doc
    return made


class TFDecorator:
    """What a decorator is and what it decorates; called, it is what it decorates."""

    def __init__(self, decorator_name, target, decorator_doc="", decorator_argspec=None):
        self._name, self._doc, self._argspec = decorator_name, decorator_doc, decorator_argspec
        self._target = target
        if hasattr(target, "__name__"):
            self.__name__ = target.__name__
        self.__doc__ = decorator_doc or getattr(target, "__doc__", None) or ""
        self.__wrapped__ = target

    def __get__(self, instance, owner):
        return self._target.__get__(instance, owner)

    def __call__(self, *args, **kwargs):
        return self._target(*args, **kwargs)

    decorated_target = property(lambda self: self._target, doc="What it decorates.")
    decorator_name = property(lambda self: self._name, doc="What it is called.")
    decorator_doc = property(lambda self: self._doc, doc="What it says of itself.")
    decorator_argspec = property(lambda self: self._argspec, doc="The arguments that it shows, or None.")

    @decorated_target.setter
    def decorated_target(self, target):
        self._target = target


def unwrap(maybe_tf_decorator):
    """([the decorators], what they decorate)."""
    around = []
    while hasattr(maybe_tf_decorator, "__wrapped__"):
        around.append(getattr(maybe_tf_decorator, "_tf_decorator", maybe_tf_decorator))
        maybe_tf_decorator = maybe_tf_decorator.__wrapped__
    return around, maybe_tf_decorator


def rewrap(decorator_func, previous_target, new_target):
    """Let decorators around one function say that they are around another; what is decorated then. The decorators'
    own functions go on calling what they were made with.
    """
    innermost = None
    current = decorator_func
    while current is not previous_target and hasattr(current, "__wrapped__"):
        innermost, current = current, current.__wrapped__
    if innermost is None:
        return new_target
    innermost.__wrapped__ = new_target
    if hasattr(innermost, "_tf_decorator"):
        innermost._tf_decorator.decorated_target = new_target
    return decorator_func


def contextmanager(target):
    """contextlib.contextmanager."""
    return contextlib.contextmanager(target)


def should_use_result(fn):
    """Marks functions whose result is easily forgotten. Nothing is said here: the function itself."""
    return fn


must_use_result_or_fatal = should_use_result


def keyword_args_only(func):
    """The function, refusing arguments that come by position."""

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
    """A name to show for a callable."""
    while isinstance(func, functools.partial):
        func = func.func
    if not callable(func):
        raise ValueError("Argument must be callable")
    return getattr(inspect.unwrap(func), "__name__", str(type(func)))


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


def remove_undocumented(module_name, allowed_exception_list=None, doc_string_modules=None):
    """Hides a module's inner names in TensorFlow's tree; here they may stay."""
    del module_name, allowed_exception_list, doc_string_modules
