"""What is the default now: graph and session stacks of each thread, and the module-level forms of a graph's scopes."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from everflow.framework.graph import Graph
from everflow.framework.operation import Operation, Tensor

if TYPE_CHECKING:
    from everflow.framework.hints import DeviceRequest, SessionLike

T = TypeVar("T")


class _DefaultStack(threading.local):
    """Nested defaults of one thread."""

    def __init__(self, enforce_nesting: bool = True) -> None:
        self._stack: list[Any] = []
        self.enforce_nesting = enforce_nesting

    def get(self) -> Any:
        return self._stack[-1] if self._stack else None

    @property
    def empty(self) -> bool:
        return not self._stack

    def is_cleared(self) -> bool:
        """Whether nothing is entered."""
        return self.empty

    @property
    def stack(self) -> list[Any]:
        """What is entered, innermost last."""
        return self._stack

    @contextlib.contextmanager
    def push(self, item: T) -> Iterator[T]:
        self._stack.append(item)
        try:
            yield item
        finally:
            if self._stack:
                if self._stack[-1] is item:
                    self._stack.pop()
                elif self.enforce_nesting:
                    raise AssertionError(f"Nesting violated for default stack of {type(item)} objects")
                elif item in self._stack:
                    self._stack.remove(item)

    def reset(self) -> None:
        """Leave all that is entered."""
        self._stack = []

    def get_default(self) -> Any:
        """What is entered innermost; in tests, as `get_controller`, a word for `get`."""
        return self.get()

    def get_controller(self, default: T) -> AbstractContextManager[T]:
        """A context in which something is the default."""
        return self.push(default)


class _DefaultGraphs(_DefaultStack):
    """The graph stack of a thread; under it lies a graph that is made when first asked for."""

    # `eager.enable_eager_execution` puts its own in.
    make_bottom: Callable[[], Graph] = Graph

    def __init__(self) -> None:
        super().__init__()
        self._bottom: Graph | None = None
        self._modes: list[int] = []  # places in the stack of graphs that stand for drawing rather than for themselves

    def get(self) -> Graph:
        return self._stack[-1] if self._stack else self.bottom

    @property
    def bottom(self) -> Graph:
        """The graph that is the default one where none was entered."""
        if self._bottom is None:
            self._bottom = _DefaultGraphs.make_bottom()
        return self._bottom

    def reset(self) -> None:
        self._bottom = None
        for place in self._modes:
            self._stack[place] = Graph()

    @contextlib.contextmanager
    def drawing(self, graph: Graph) -> Iterator[Graph]:
        """A context that draws in a graph, in a process that executes eagerly: it stands for that mode, and
        `reset_default_graph` may put a new one in its place.
        """
        place = len(self._stack)
        self._stack.append(graph)
        self._modes.append(place)
        try:
            yield graph
        finally:
            self._modes.remove(place)
            del self._stack[place:]

    def entered(self) -> list[Graph]:
        """The graphs that were entered by themselves, and don't stand for a mode."""
        return [graph for place, graph in enumerate(self._stack) if place not in self._modes]


default_graphs = _DefaultGraphs()
default_sessions = _DefaultStack()


def get_default_graph() -> Graph:
    """The graph that operations go into now."""
    graphs = default_graphs
    if graphs._stack:
        return graphs._stack[-1]
    return graphs.bottom if graphs._bottom is None else graphs._bottom


def drawn_graph() -> Graph:
    """`tf.get_default_graph`: the graph that operations go into. When executing eagerly they go into none: it is the
    graph around then, or an empty one.

    Returns:
        A Graph.

    Example:
        >>> c = tf.constant(1.0)
        >>> c.graph is tf.get_default_graph()
        True
    """
    graph = get_default_graph()
    return getattr(graph, "beside", graph)


def has_default_graph() -> bool:
    """Whether a graph was entered with `as_default`."""
    return not default_graphs.empty


def reset_default_graph() -> None:
    """Start anew with an empty default graph; not inside `with graph.as_default()`.

    Returns:
        None.

    Raises:
        AssertionError: If another graph is the default one inside of a `with`.

    Example:
        >>> v = tf.Variable(1.0)
        >>> tf.reset_default_graph()
        >>> tf.global_variables()
        []
    """
    if not all(graph.executes for graph in default_graphs.entered()):
        raise AssertionError(
            "tf.reset_default_graph() is not for use inside `with graph.as_default()`: leave that first, or make a new tf.Graph()."
        )
    default_graphs.reset()


def default_session(session: SessionLike) -> AbstractContextManager[Any]:
    """A context in which `session` is the one that `eval` and `run` use."""
    return default_sessions.push(session)


def get_default_session() -> Any:
    """The innermost session entered, or None.

    Returns:
        A Session, or None.

    Example:
        >>> tf.get_default_session() is sess
        True
    """
    return default_sessions.get()


def require_session(session: SessionLike | None, graph: Graph, doing: str, method: str) -> SessionLike:
    """The session given, or the default one; ValueError where there is none or it is of another graph."""
    if session is None:
        session = get_default_session()
        if session is None:
            raise ValueError(
                f"`{method}()` can't {doing}: No default session is registered. Call it inside `with sess.as_default()`, "
                f"or as `{method}(session=sess)`"
            )
        if session.graph is not graph:
            raise ValueError(
                f"The default session can't {doing}: it is of another graph. Name the right one, as `{method}(session=sess)`."
            )
    elif session.graph is not graph:
        raise ValueError(f"The given session can't {doing}: it is of another graph.")
    return session


def graph_from_inputs(inputs: Iterable[Any], graph: Graph | None = None) -> Graph:
    """The graph that these inputs are in (the default one where none is a graph element); ValueError where they differ."""
    default = get_default_graph()
    if default._building_function or default.executes:
        return default
    if graph is not None and not isinstance(graph, Graph):
        raise TypeError(f"Input graph needs to be a Graph: {graph}")
    original = None
    for item in inputs:
        element: Any = None
        if isinstance(item, Tensor):
            if item.is_eager:
                continue
            element, its = item, item._op._graph
        elif isinstance(item, Operation):
            element, its = item, item._graph
        elif hasattr(item, "dense_shape") and not isinstance(item, tuple):
            element, its = item, item.graph
        elif hasattr(item, "_as_graph_element"):
            element = item._as_graph_element()
            if element is None:
                continue
            its = element.graph
        else:
            continue
        if graph is None:
            original, graph = element, its
        elif its is not graph:
            if original is not None:
                raise ValueError(f"{item} must be from the same graph as {original}.")
            raise ValueError(f"{element} is not from the passed-in graph.")
    return graph or default


class name_scope:
    """A context that puts a name before what is made in it.

    Args:
        name: The name, used as it is.
        default_name: The name to use where `name` is None, made unique.
        values: Tensors that say which graph is meant.

    Example:
        >>> with tf.name_scope("outer"):
        ...     with tf.name_scope("inner") as scope:
        ...         c = tf.constant(1.0, name="c")
        >>> scope, c.name
        ('outer/inner/', 'outer/inner/c:0')
    """

    _stack: contextlib.ExitStack  # while it is open in a graph

    def __init__(self, name: str | None, default_name: str | None = None, values: Iterable[Any] | None = None) -> None:
        self._given = name
        self._name = default_name if name is None else name
        self._default_name = default_name
        self._values = values
        self._outer: tuple[Graph, str | None] | None = None

    @property
    def name(self) -> str | None:
        return self._name

    def __enter__(self) -> str:
        if self._name is None and self._values is not None:
            raise ValueError(
                f"A name scope needs a name or a default_name; here name is {self._given} and default_name {self._default_name}."
            )
        graph = get_default_graph()
        if graph.executes:
            self._outer = graph, graph._name_stack
            return graph.enter_scope(self._name)
        graph = graph_from_inputs(self._values or ())
        self._stack = contextlib.ExitStack()
        self._stack.enter_context(graph.as_default())
        try:
            return self._stack.enter_context(graph.name_scope(self._name))
        except BaseException:
            self._stack.close()
            raise

    def __exit__(self, *exc: Any) -> Literal[False]:
        if self._outer is not None:
            graph, outer = self._outer
            graph._name_stack = outer
            self._outer = None
        else:
            self._stack.__exit__(*exc)
        return False


class name_scope_v2:
    """The name scope of `tf.compat.v2`: a name and nothing else, and it can be entered again, also inside of itself."""

    def __init__(self, name: str) -> None:
        if name is None or not isinstance(name, str):
            raise ValueError(f"A name scope's name must be a string, not {name!r}")
        self._name = name
        self._open: list[name_scope] = []

    @property
    def name(self) -> str:
        return self._name

    def __enter__(self) -> str:
        scope = name_scope(self._name)
        entered = scope.__enter__()
        self._open.append(scope)
        return entered

    def __exit__(self, *exc: Any) -> Literal[False]:
        return self._open.pop().__exit__(*exc)


@contextlib.contextmanager
def op_scope(values: Iterable[Any], name: str | None, default_name: str | None = None) -> Iterator[str]:
    """Deprecated form of `name_scope` with the values first.

    Args:
        values: Tensors that say which graph is meant.
        name: The name, used as it is.
        default_name: The name to use where `name` is None, made unique.

    Yields:
        The name of the scope.

    Example:
        >>> with tf.op_scope([], "scope") as name:
        ...     print(name)
        scope/
    """
    with name_scope(name, default_name=default_name, values=values) as scope:
        yield scope


def device(device_name_or_function: DeviceRequest) -> AbstractContextManager[None]:
    """A context whose operations ask for a device; see `Graph.device`.

    Args:
        device_name_or_function: A name such as `/cpu:0`, a function of an operation that returns one, or None for no
            wish. Executing eagerly, a name or None.

    Returns:
        A context manager.

    Raises:
        RuntimeError: For a function, when executing eagerly.
        ValueError: For anything but a name, when executing eagerly.

    Example:
        >>> with tf.device("/cpu:0"):
        ...     c = tf.constant(1.0)
        >>> c.device
        '/device:CPU:0'
    """
    graph = get_default_graph()
    if graph.executes and device_name_or_function is not None and not isinstance(device_name_or_function, str):
        if callable(device_name_or_function):
            raise RuntimeError(
                "Executing eagerly there are no operations for a device function to look at: give a name."
            )
        raise ValueError(f"Executing eagerly a device is given by its name, not as {device_name_or_function!r}")
    return graph.device(device_name_or_function)


def innermost_device() -> DeviceRequest:
    """What the innermost `tf.device` asks for; functions of version 1 are drawn under that, and under no other."""
    around = get_default_graph()._device_stack
    return around[-1].request if around else None


def container(container_name: str) -> AbstractContextManager[str]:
    """A context whose stateful operations keep their state in this resource container.

    Args:
        container_name: The container's name.

    Returns:
        A context manager.

    Example:
        >>> with tf.container("mine"):
        ...     v = tf.Variable(1.0)
        >>> v.op.get_attr("container")
        b'mine'
    """
    return get_default_graph().container(container_name)


def colocate_with(op: Any, ignore_existing: bool = False) -> AbstractContextManager[None]:
    """A context whose operations go to the device of `op`.

    Args:
        op: The operation or tensor.
        ignore_existing: Whether outer contexts of this kind don't count.

    Returns:
        A context manager.

    Example:
        >>> v = tf.Variable(1.0)
        >>> with tf.colocate_with(v):
        ...     c = tf.constant(2.0)
        >>> c.op.colocation_groups()
        [b'loc:@Variable']
    """
    return get_default_graph().colocate_with(op, ignore_existing)


def control_dependencies(control_inputs: Iterable[Any] | None) -> AbstractContextManager[None]:
    """A context whose operations run after these; None lifts the outer ones.

    Args:
        control_inputs: A list of operations and tensors, or None.

    Returns:
        A context manager.

    Example:
        >>> v = tf.Variable(1.0)
        >>> sess.run(v.initializer)
        >>> with tf.control_dependencies([tf.assign(v, 5.0)]):
        ...     after = tf.identity(v)
        >>> sess.run(after)
        np.float32(5.0)
    """
    return get_default_graph().control_dependencies(control_inputs)


def add_to_collection(name: Hashable, value: Any) -> None:
    """Append a value to a collection of the default graph.

    Args:
        name: The name of the collection.
        value: What to append: any object.

    Returns:
        None.

    Example:
        >>> tf.add_to_collection("outputs", tf.constant(1.0))
        >>> len(tf.get_collection("outputs"))
        1
    """
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: str | Iterable[Hashable], value: Any) -> None:
    """Append a value to several collections of the default graph.

    Args:
        names: The names of the collections.
        value: What to append: any object.

    Returns:
        None.

    Example:
        >>> tf.add_to_collections(["a", "b"], tf.constant(1.0))
        >>> len(tf.get_collection("b"))
        1
    """
    get_default_graph().add_to_collections(names, value)


def get_collection(key: Hashable, scope: str | None = None) -> list[Any]:
    """A copy of a collection of the default graph.

    Args:
        key: The name of the collection, such as `tf.GraphKeys.LOSSES`.
        scope: Only what has a name that matches this at its start, a regular expression.

    Returns:
        A list.

    Example:
        >>> tf.add_to_collection("outputs", tf.constant(1.0, name="y"))
        >>> [t.name for t in tf.get_collection("outputs")]
        ['y:0']
    """
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: Hashable) -> list[Any]:
    """A collection's own list, of the default graph.

    Args:
        key: The name of the collection.

    Returns:
        The list, which can be changed.

    Example:
        >>> tf.get_collection_ref("outputs").append("y")
        >>> tf.get_collection("outputs")
        ['y']
    """
    return get_default_graph().get_collection_ref(key)


def get_all_collection_keys() -> list[str]:
    """The names of the default graph's collections."""
    return get_default_graph().get_all_collection_keys()


def outermost(graph: Graph) -> Graph:
    """A graph, or the one that the functions are in whose body it is."""
    while graph.building_function and graph.outer_graph is not None:
        graph = graph.outer_graph
    return graph


def outside_functions() -> Graph:
    """The default graph, or the one around the functions whose bodies are drawn now."""
    graph = outermost(get_default_graph())
    if not graph.building_function:
        return graph
    # A graph that a program made a function's body: what is around it is what was entered before.
    entered = [each for each in default_graphs.entered() if not each.building_function]
    around = [each for each in default_graphs._stack if not each.building_function]
    return (entered or around or [default_graphs.bottom])[-1]


@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """A context that lifts what is made in it out of control dependencies, control flow and function bodies.

    Yields:
        None.

    Example:
        >>> with tf.control_dependencies([tf.no_op()]):
        ...     with tf.init_scope():
        ...         c = tf.constant(1.0)
        >>> c.op.control_inputs
        []
    """
    scope = get_default_graph().get_name_scope()
    graph = outside_functions()
    with (
        graph.as_default(),
        graph.name_scope(scope + "/" if scope else None),
        graph.control_dependencies(None),
    ):
        yield


def executing_eagerly() -> bool:
    """Whether operations run at once. Inside a graph they never do.

    Returns:
        A bool.

    Example:
        >>> tf.executing_eagerly()
        False
    """
    return get_default_graph().executes


def executing_eagerly_outside_functions() -> bool:
    """Whether operations run at once, or would around the function whose body is drawn now."""
    return outside_functions().executes


_proto_functions: dict = {}


def register_proto_function(
    collection_name: str,
    proto_type: type | None = None,
    to_proto: Callable[..., Any] | None = None,
    from_proto: Callable[..., Any] | None = None,
) -> None:
    """Say how the items of a collection are written to and read from protos in a MetaGraphDef."""
    if to_proto and not callable(to_proto):
        raise TypeError("to_proto must be callable.")
    if from_proto and not callable(from_proto):
        raise TypeError("from_proto must be callable.")
    if collection_name in _proto_functions:
        raise KeyError(f"Registering two proto functions with name '{collection_name}'!")
    _proto_functions[collection_name] = (proto_type, to_proto, from_proto)


def get_collection_proto_type(collection_name: str) -> type | None:
    """The proto type of a collection's items, or None."""
    return _proto_functions.get(collection_name, (None, None, None))[0]


def get_to_proto_function(collection_name: str) -> Callable[..., Any] | None:
    """The function that turns an item of a collection into a proto, or None."""
    return _proto_functions.get(collection_name, (None, None, None))[1]


def get_from_proto_function(collection_name: str) -> Callable[..., Any] | None:
    """The function that makes an item of a collection from its proto, or None."""
    return _proto_functions.get(collection_name, (None, None, None))[2]
