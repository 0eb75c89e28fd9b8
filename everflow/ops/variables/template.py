"""`tf.make_template`: a function whose variables are made at its first call and shared by later ones."""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
import traceback

from everflow.framework.graph_keys import GraphKeys
from everflow.framework.scopes import executing_eagerly, get_collection
from everflow.ops.functions.traced import defun
from everflow.ops.variables.eager_store import EagerVariableStore
from everflow.ops.variables.scope import variable_creator_scope, variable_scope
from everflow.ops.variables.store import get_variable_store
from everflow.ops.variables.trackable import Trackable
from everflow.platform import logging


def make_template(name_, func_, create_scope_now_=False, unique_name_=None, custom_getter_=None, **kwargs):
    """`func_` with a variable scope of its own: every call uses the same variables.

    Args:
        name_: The name of the variable scope.
        func_: The function.
        create_scope_now_: Whether the scope's name is taken now, and not with the first call.
        unique_name_: A name that is used as it is.
        custom_getter_: A function that is called in place of the one that gets variables.
        **kwargs: Arguments that every call gets.

    Returns:
        A callable.

    Raises:
        ValueError: If `unique_name_` is given when executing eagerly.

    Example:
        >>> scale = tf.make_template("scale", lambda x: x * tf.get_variable("s", initializer=2.0))
        >>> a, b = scale(1.0), scale(3.0)
        >>> len(tf.global_variables())
        1
    """
    if kwargs:
        func_ = functools.partial(func_, **kwargs)
    if executing_eagerly() and unique_name_ is not None:
        raise ValueError("unique_name_ cannot be used when eager execution is enabled.")
    kind = EagerTemplate if executing_eagerly() else Template
    return kind(
        name_, func_, create_scope_now=create_scope_now_, unique_name=unique_name_, custom_getter=custom_getter_
    )


def make_template_internal(
    name_,
    func_,
    create_scope_now_=False,
    unique_name_=None,
    custom_getter_=None,
    create_graph_function_=False,
    **kwargs,
):
    """`make_template`, with the choice to trace the function into the graph."""
    if kwargs:
        func_ = functools.partial(func_, **kwargs)
    if create_graph_function_:
        func_ = defun(func_)
    return make_template(name_, func_, create_scope_now_, unique_name_, custom_getter_)


class _Calls(threading.local):
    """The templates whose variables are captured in this thread, outermost first."""

    templates: tuple = ()


_calls = _Calls()


@contextlib.contextmanager
def capture_dependencies(template):
    """A context in which variables that are made in a template's scope hang on it, for checkpoints, by their names there.

    Where that happens in the call of another template, the inner template hangs on the outer one.

    Args:
        template: The template; its variable scope must have been made.

    Yields:
        None.

    Example:
        >>> scale = tf.make_template("scale", lambda x: x * tf.get_variable("s", initializer=2.0), create_scope_now_=True)
        >>> with tf.variable_scope(scale.variable_scope), tf.contrib.checkpoint.capture_dependencies(template=scale):
        ...     b = tf.get_variable("b", initializer=1.0)
        >>> tf.contrib.checkpoint.list_objects(scale)[1] is b
        True
    """
    if not isinstance(template, Trackable):
        raise AttributeError(f"{template!r} is no template: it has no variable_scope")
    around = _calls.templates
    chain = (*around, template)

    def noted(next_creator, **kwargs):
        made = next_creator(**kwargs)
        if _calls.templates == chain:  # else a template called in this one's call says it
            links = [*((inner, inner.variable_scope.name) for inner in chain[1:]), (made, kwargs.get("name") or "")]
            for outer, (inner, name) in zip(chain, links, strict=True):
                prefix = outer.variable_scope.name + "/"
                if name.startswith(prefix):
                    outer._track_trackable(inner, name=name.removeprefix(prefix), overwrite=True)
        return made

    _calls.templates = chain
    try:
        with variable_creator_scope(noted):
            yield
    finally:
        _calls.templates = around


def _stack():
    """Who is running, outermost first; lines of source are read when they are shown."""
    frames = list(traceback.walk_stack(sys._getframe(1)))
    return traceback.StackSummary.extract(reversed(frames), lookup_lines=False)


def _say_where_made(error, made_at):
    """Add to an error of a call where the template was made, which may be far from it: the frames that both don't share."""
    if error.args and not isinstance(error.args[0], str):
        return
    here = [(frame.filename, frame.lineno) for frame in _stack()]
    shared = 0
    while (
        shared < min(len(made_at) - 1, len(here)) and (made_at[shared].filename, made_at[shared].lineno) == here[shared]
    ):
        shared += 1
    said, *others = error.args or ("",)
    where = "".join(traceback.format_list(made_at[shared:]))
    error.args = (f"{said}\n\noriginally defined at:\n{where}", *others)


class Template(Trackable):
    """A function together with the variable scope that its calls share."""

    def __init__(self, name, func, create_scope_now=False, unique_name=None, custom_getter=None):
        if name is None:
            raise ValueError("name cannot be None.")
        self._func = func
        self._name = name
        self._unique_name = unique_name
        self._custom_getter = custom_getter
        self._called = False
        self._variable_scope = None
        self._made_at = _stack()
        if create_scope_now:
            # Ops come into a name scope at each call; none is opened for them yet.
            with self._new_scope(auxiliary_name_scope=False) as scope:
                self._variable_scope = scope

    def _new_scope(self, **options):
        return variable_scope(self._unique_name, self._name, custom_getter=self._custom_getter, **options)

    def __call__(self, *args, **kwargs):
        if self._variable_scope is None:
            with self._new_scope() as scope:
                self._variable_scope = scope
                return self._call(args, kwargs)
        with variable_scope(self._variable_scope, reuse=self._called):
            return self._call(args, kwargs)

    def _call(self, args, kwargs):
        """Call the function; a later call that makes trainable variables without `get_variable` raises."""
        try:
            return self._checked_call(args, kwargs)
        except Exception as error:
            _say_where_made(error, self._made_at)
            raise

    def _checked_call(self, args, kwargs):
        before = len(self._all_trainable())
        global_before = len(get_collection(GraphKeys.GLOBAL_VARIABLES))
        with capture_dependencies(self):
            result = self._func(*args, **kwargs)
        if self._called:
            made = self._all_trainable()[before:]
            if made:
                raise ValueError(
                    f"A later call of template {self._name!r} made trainable variables, {made}: use tf.get_variable"
                )
            made = get_collection(GraphKeys.GLOBAL_VARIABLES)[global_before:]
            if made:
                logging.info(
                    "A later call of template %r made variables, %s: tf.get_variable would share them.",
                    self._name,
                    made,
                )
        self._called = True
        return result

    def _all_trainable(self):
        """All trainable variables of the graph."""
        return get_collection(GraphKeys.TRAINABLE_VARIABLES)

    _variables_created = property(lambda self: self._called, doc="Whether a call has come to its end.")
    name = property(lambda self: self._name)
    func = property(lambda self: self._func)
    variable_scope = property(lambda self: self._variable_scope)
    var_scope = variable_scope

    @property
    def variable_scope_name(self):
        """The scope's name with a slash at its end, or None before it exists."""
        if self._variable_scope is None:
            return None
        name = self._variable_scope.name
        return name if not name or name.endswith("/") else name + "/"

    def _in_scope(self, key):
        if self._variable_scope is None:
            return []
        return get_collection(key, self.variable_scope_name)

    global_variables = property(lambda self: self._in_scope(GraphKeys.GLOBAL_VARIABLES))
    local_variables = property(lambda self: self._in_scope(GraphKeys.LOCAL_VARIABLES))
    trainable_variables = property(lambda self: self._in_scope(GraphKeys.TRAINABLE_VARIABLES))
    variables = property(lambda self: self.global_variables + self.local_variables)
    trainable_weights = property(lambda self: self.trainable_variables)

    @property
    def non_trainable_variables(self):
        """The variables that optimizers leave alone."""
        trained = self.trainable_variables
        return [v for v in self.variables if v not in trained]

    weights = property(lambda self: self.variables)
    non_trainable_weights = property(lambda self: self.non_trainable_variables)


class EagerTemplate(Template):
    """A template of eager execution: it keeps its variables in a store, since no graph does; inside of another template
    or store, in that one's.
    """

    def __init__(self, name, func, create_scope_now=False, unique_name=None, custom_getter=None):
        around = get_variable_store()
        self._template_store = EagerVariableStore(around if around.keeps_eager else None)
        super().__init__(name, func, create_scope_now, unique_name, custom_getter)

    def __call__(self, *args, **kwargs):
        with self._template_store.as_default():
            return super().__call__(*args, **kwargs)

    def _all_trainable(self):
        return self._template_store.trainable_variables()

    def _in_scope(self, key):
        # Local and global variables are not told apart here.
        return [] if key == GraphKeys.LOCAL_VARIABLES else self._own(self._template_store.variables())

    def _own(self, variables):
        scope = self.variable_scope_name
        return [] if scope is None else [v for v in variables if v.name.startswith(scope)]

    trainable_variables = property(lambda self: self._own(self._template_store.trainable_variables()))
    non_trainable_variables = property(lambda self: self._own(self._template_store.non_trainable_variables()))
