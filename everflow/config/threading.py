"""tf.config.threading: how many threads ops may use."""

from everflow.runtime.process_options import PROCESS as _PROCESS


def get_intra_op_parallelism_threads():
    """Threads within one op; 0 leaves it to the system.

    Returns:
        A number.

    Example:
        >>> tf.config.threading.get_intra_op_parallelism_threads()
        0
    """
    return _PROCESS.intra_op_threads


def set_intra_op_parallelism_threads(num_threads):
    """Set the threads that one op may use.

    Args:
        num_threads: How many; 0 leaves it to the system.

    Returns:
        None.

    Raises:
        RuntimeError: If something ran already.

    Example:
        >>> threads = tf.config.threading.get_intra_op_parallelism_threads()
    """
    if num_threads != _PROCESS.intra_op_threads:
        _PROCESS.check_unused("Intra op parallelism")
        _PROCESS.intra_op_threads = int(num_threads)


def get_inter_op_parallelism_threads():
    """Threads between ops; 0 leaves it to the system.

    Returns:
        A number.

    Example:
        >>> tf.config.threading.get_inter_op_parallelism_threads()
        0
    """
    return _PROCESS.inter_op_threads


def set_inter_op_parallelism_threads(num_threads):
    """Set how many ops may run at once. A plan here is one line of ops, so more than one changes nothing.

    Args:
        num_threads: How many; 0 leaves it to the system.

    Returns:
        None.

    Raises:
        RuntimeError: If something ran already.

    Example:
        >>> threads = tf.config.threading.get_intra_op_parallelism_threads()
    """
    if num_threads != _PROCESS.inter_op_threads:
        _PROCESS.check_unused("Inter op parallelism")
        _PROCESS.inter_op_threads = int(num_threads)
