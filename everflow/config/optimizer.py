"""tf.config.optimizer: which rewrites graphs go through before they run."""

from everflow.protos.rewriter_config_pb2 import RewriterConfig as _RewriterConfig
from everflow.runtime.process_options import PROCESS as _PROCESS

_SWITCHES = frozenset(
    """
    layout_optimizer constant_folding shape_optimization remapping arithmetic_optimization dependency_optimization loop_optimization
    function_optimization debug_stripper scoped_allocator_optimization pin_to_host_optimization implementation_selector auto_mixed_precision
    """.split()
) & set(_RewriterConfig.DESCRIPTOR.fields_by_name)

_NUMBERS = frozenset(["min_graph_nodes"])


def get_jit():
    """Whether graphs are compiled by XLA where there is one.

    Returns:
        A bool.

    Example:
        >>> tf.config.optimizer.get_jit()
        False
    """
    return _PROCESS.jit


def set_jit(enabled):
    """Ask for XLA. Everflow has none: its plans are compiled either way.

    Args:
        enabled: Whether.

    Returns:
        None.

    Example:
        >>> tf.config.optimizer.set_jit(False)
    """
    _PROCESS.jit = bool(enabled)


def get_experimental_options():
    """The rewrites that were switched on or off.

    Returns:
        A dictionary.

    Example:
        >>> tf.config.optimizer.get_experimental_options()["disable_meta_optimizer"]
        False
    """
    return {
        **_PROCESS.optimizer,
        "disable_model_pruning": False,
        "disable_meta_optimizer": _PROCESS.disable_meta_optimizer,
    }


def set_experimental_options(options):
    """Switch rewrites on or off: `tf.config.optimizer.set_experimental_options({"constant_folding": False})`.

    Args:
        options: Bools by the names of rewrites, None for what is the default; and the number `min_graph_nodes`.

    Returns:
        None.

    Raises:
        ValueError: If a name isn't known.

    Example:
        >>> tf.config.optimizer.set_experimental_options({})
    """
    for name, value in options.items():
        if name == "disable_meta_optimizer":
            _PROCESS.disable_meta_optimizer = bool(value)
        elif name not in _SWITCHES and name not in _NUMBERS:
            raise ValueError(f"Not a rewrite that can be switched: {name!r}")
        elif value is None:
            _PROCESS.optimizer.pop(name, None)
        else:
            _PROCESS.optimizer[name] = int(value) if name in _NUMBERS else bool(value)
