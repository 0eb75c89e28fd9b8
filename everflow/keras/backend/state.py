"""What Keras remembers: for each graph its learning phase, name counters and variables, and for each thread a session.

The session is made when first needed, and each time it is asked for, variables that Keras made and nobody initialised
yet are initialised.
"""

from __future__ import annotations

import collections
import contextlib
import os
import threading
import weakref

from everflow.framework.functions import FuncGraph
from everflow.framework.graph import Graph
from everflow.framework.operation import Operation, Tensor
from everflow.framework.scopes import (
    drawn_graph,
    executing_eagerly,
    executing_eagerly_outside_functions,
    get_default_graph,
    get_default_session,
    graph_from_inputs,
    init_scope,
    name_scope,
    reset_default_graph,
)
from everflow.framework.strategy_context import worker_of
from everflow.ops.array.constants import placeholder_with_default
from everflow.ops.functions.bodies import PartGraph
from everflow.ops.variables.variable import is_variable_initialized, variables_initializer
from everflow.protos import config_pb2
from everflow.runtime.session import Session
from everflow.train.restore_status import register_session_provider


class _GraphState:
    """What is remembered of one graph."""

    def __init__(self):
        self.learning_phase = None
        self.name_counts = collections.defaultdict(int)
        # Variables that no session has been asked for since they were made, and optimizers of tf.train, which make
        # theirs later.
        self.new_variables = weakref.WeakValueDictionary()  # by identity: what `==` of variables says may be a tensor
        self.optimizers = weakref.WeakSet()


class _Thread(threading.local):
    session = None


_states: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
_thread = _Thread()
_eager_learning_phase: int | None = None  # not set: 0, and layers are told nothing
_manual_variable_initialization = False
_symbolic_graph = None


def get_graph() -> Graph:
    """The graph that models are drawn in: the default one, or, in eager mode, one that Keras keeps for it."""
    global _symbolic_graph
    if not executing_eagerly():
        return get_default_graph()
    if _symbolic_graph is None:
        # A body like a function's: what it makes of variables stays outside.
        _symbolic_graph = FuncGraph("keras_graph", get_default_graph())
        # Plain ops on what comes from `Input` are drawn in it, too.
        _symbolic_graph.takes_eager_ops = True
    _symbolic_graph.outer_graph = get_default_graph()  # where variables are made, also when eager mode is entered anew
    return _symbolic_graph


def state_of(graph=None) -> _GraphState:
    """What is remembered of a graph, the current one by default."""
    graph = get_graph() if graph is None else graph
    if graph not in _states:
        _states[graph] = _GraphState()
    return _states[graph]


# --- names ------------------------------------------------------------------------------------


def get_uid(prefix=""):
    """How often this prefix was asked for in the current graph, counting from 1.

    Args:
        prefix: The prefix.

    Returns:
        A number.

    Example:
        >>> tf.keras.backend.get_uid("layer"), tf.keras.backend.get_uid("layer")
        (1, 2)
    """
    counts = state_of().name_counts
    counts[prefix] += 1
    return counts[prefix]


def reset_uids():
    """Begin all name counters anew.

    Returns:
        None.

    Example:
        >>> tf.keras.backend.reset_uids()
        >>> tf.keras.backend.get_uid("layer")
        1
    """
    for state in _states.values():
        state.name_counts.clear()


def unique_object_name(name, name_uid_map=None, avoid_names=None, namespace="", zero_based=False):
    """A name of the form `name_2` that is new in the current graph; with `zero_based` the first one has no number."""
    # Of the default graph, executing eagerly as well: names begin anew with each graph that is entered.
    counts = state_of(drawn_graph()).name_counts if name_uid_map is None else name_uid_map
    avoid = avoid_names or ()
    while True:
        number = counts[(namespace, name)]
        counts[(namespace, name)] += 1
        proposed = name if zero_based and number == 0 else f"{name}_{number if zero_based else number + 1}"
        if proposed not in avoid:
            return proposed


# --- learning phase ---------------------------------------------------------------------------


def _draw_learning_phase():
    with name_scope(""):
        return placeholder_with_default(False, shape=(), name="keras_learning_phase")


def learning_phase():
    """Whether layers are trained: a placeholder, False unless it is fed, or what `set_learning_phase` fixed.

    Returns:
        A tensor, or a number.

    Example:
        >>> tf.keras.backend.set_learning_phase(1)
        >>> tf.keras.backend.learning_phase()
        1
    """
    if executing_eagerly():
        return _eager_learning_phase or 0
    if in_symbolic_graph():
        return symbolic_learning_phase()
    with init_scope():  # Bodies of functions have the phase of what is around them.
        return _eager_learning_phase or 0 if executing_eagerly() else symbolic_learning_phase()


def in_symbolic_graph() -> bool:
    """Whether ops are drawn in the graph that Keras keeps for models where all else runs at once, or in a branch there."""
    graph = get_default_graph()
    while isinstance(graph, PartGraph):
        graph = graph.outer_graph
    return _symbolic_graph is not None and graph is _symbolic_graph


def default_training():
    """What layers are told of training if the program doesn't say: None leaves it to them to ask for the phase."""
    if _eager_learning_phase is not None and executing_eagerly_outside_functions():
        return bool(_eager_learning_phase)
    return symbolic_learning_phase() if in_symbolic_graph() else None


def symbolic_learning_phase():
    """The learning phase of the graph that models are drawn in."""
    graph = _symbolic_graph if in_symbolic_graph() else get_graph()
    state = state_of(graph)
    if state.learning_phase is None:
        with graph.as_default():
            state.learning_phase = _draw_learning_phase()
    return state.learning_phase


def fixed_learning_phase():
    """What `set_learning_phase` fixed for the graph that models are drawn in; None if nothing."""
    phase = state_of(get_graph()).learning_phase
    return None if isinstance(phase, Tensor) else phase


def _check_phase(value):
    if value not in {0, 1}:
        raise ValueError("Expected learning phase to be 0 or 1.")


def set_learning_phase(value):
    """Fix the learning phase of the current graph: 0 to test, 1 to train.

    Args:
        value: 0 or 1.

    Returns:
        None.

    Raises:
        ValueError: If it is something else.

    Example:
        >>> tf.keras.backend.set_learning_phase(0)
    """
    global _eager_learning_phase
    _check_phase(value)
    if executing_eagerly():
        _eager_learning_phase = value
    state_of().learning_phase = value


@contextlib.contextmanager
def learning_phase_scope(value):
    """A context in which the learning phase is fixed.

    Args:
        value: 0 to test, 1 to train.

    Yields:
        None.

    Example:
        >>> with tf.keras.backend.learning_phase_scope(1):
        ...     tf.keras.backend.learning_phase()
        1
    """
    global _eager_learning_phase
    _check_phase(value)
    state = state_of()
    before, eager_before = state.learning_phase, _eager_learning_phase
    set_learning_phase(value)
    try:
        yield
    finally:
        state.learning_phase, _eager_learning_phase = before, eager_before


@contextlib.contextmanager
def eager_learning_phase_scope(value):
    """A context in which the phase of what runs at once, and of functions, is fixed; models are drawn as before."""
    global _eager_learning_phase
    _check_phase(value)
    before, _eager_learning_phase = _eager_learning_phase, value
    try:
        yield
    finally:
        _eager_learning_phase = before


# --- variables and sessions --------------------------------------------------------------------


def track_variable(variable):
    """Let the session initialise this variable when it is first needed."""
    if executing_eagerly():
        return
    graph = variable.graph if hasattr(variable, "graph") else get_graph()
    state_of(graph).new_variables[id(variable)] = variable


def track_tf_optimizer(optimizer):
    """Let the session initialise the variables of a tf.train optimizer that a model uses."""
    if executing_eagerly():
        return
    state_of().optimizers.add(optimizer)


def manual_variable_initialization(value):
    """Whether the program initialises variables itself rather than Keras.

    Args:
        value: Whether.

    Returns:
        None.

    Example:
        >>> tf.keras.backend.manual_variable_initialization(False)
    """
    global _manual_variable_initialization
    _manual_variable_initialization = value


def _new_variables(graph):
    """The tracked variables that were never looked at, in the order of their making."""
    state = state_of(graph)
    found = dict(state.new_variables)
    for optimizer in state.optimizers:
        made = getattr(optimizer, "optimizer", optimizer).variables()  # also of one in a wrapper
        found.update((id(v), v) for v in made if not getattr(v, "_keras_initialized", False))
    # Sets have no order, and a graph must come out the same each time: nodes are numbered.
    return sorted(found.values(), key=lambda variable: variable.op._id)


def _initialized(session):
    """A session with values for all variables that Keras has made since the last time."""
    candidates = _new_variables(session.graph)
    if candidates:
        with session.graph.as_default():
            known = session.run([is_variable_initialized(v) for v in candidates])
            missing = [v for v, is_there in zip(candidates, known) if not is_there]
            if missing:
                session.run(variables_initializer(missing))
        for variable in candidates:
            variable._keras_initialized = True
        state_of(session.graph).new_variables.clear()
    return session


def _session_config():
    if os.environ.get("OMP_NUM_THREADS"):
        threads = int(os.environ["OMP_NUM_THREADS"])
        return config_pb2.ConfigProto(
            intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads, allow_soft_placement=True
        )
    return config_pb2.ConfigProto(allow_soft_placement=True)


def session_without_initializing(op_input_list=()):
    """The session that Keras uses, as it is."""
    session = get_default_session()
    if session is not None:
        return session
    graph = graph_from_inputs(op_input_list) if op_input_list else get_graph()
    if _thread.session is None or _thread.session.graph is not graph or _thread.session._closed:
        worker, target, config = worker_of(graph), "", _session_config()
        if worker is not None:
            target, config = worker.extended.session_place(config)
        _thread.session = Session(target, graph=graph, config=config)
    return _thread.session


def get_session(op_input_list=()):
    """The session that Keras uses: the default one, or its own; all of Keras's variables in it are initialised.

    Args:
        op_input_list: Tensors that say which graph is meant.

    Returns:
        A session.

    Example:
        >>> tf.keras.backend.get_session() is sess
        True
    """
    session = session_without_initializing(op_input_list)
    return session if _manual_variable_initialization else _initialized(session)


register_session_provider(get_session)


def set_session(session):
    """Let Keras use this session.

    Args:
        session: The session.

    Returns:
        None.

    Example:
        >>> tf.keras.backend.set_session(sess)
    """
    _thread.session = session


def clear_session():
    """Forget the default graph and everything that Keras knows of it, and begin anew.

    Returns:
        None.

    Example:
        >>> _ = tf.keras.layers.Dense(3)
        >>> tf.keras.backend.clear_session()
        >>> tf.keras.layers.Dense(3).name
        'dense'
    """
    global _symbolic_graph, _eager_learning_phase
    reset_default_graph()
    reset_uids()
    _symbolic_graph = _eager_learning_phase = None
    _thread.session = None
    _states.clear()
    if not executing_eagerly():
        symbolic_learning_phase()


def is_symbolic(x) -> bool:
    """Whether x belongs to a graph rather than holding a value."""
    return isinstance(x, (Tensor, Operation)) and not hasattr(x, "numpy")
