"""tf.sysconfig: flags for compiling op libraries. Everflow has no C++ interface, so there is nothing to find at these
places.
"""

import os

from everflow.version import CXX11_ABI_FLAG, MONOLITHIC_BUILD  # noqa: F401

_ROOT = os.path.dirname(os.path.abspath(__file__))


def get_include():
    """The directory that would hold header files.

    Returns:
        A path.

    Example:
        >>> type(tf.sysconfig.get_include()).__name__
        'str'
    """
    return os.path.join(_ROOT, "include")


def get_lib():
    """The directory that would hold the shared library: the package's own.

    Returns:
        A path.

    Example:
        >>> type(tf.sysconfig.get_lib()).__name__
        'str'
    """
    return _ROOT


def get_compile_flags():
    """The flags that a compiler of op libraries would take.

    Returns:
        A list of strings.

    Example:
        >>> type(tf.sysconfig.get_compile_flags()).__name__
        'list'
    """
    return [f"-I{get_include()}", f"-D_GLIBCXX_USE_CXX11_ABI={CXX11_ABI_FLAG}"]


def get_link_flags():
    """The flags that a linker of op libraries would take.

    Returns:
        A list of strings.

    Example:
        >>> type(tf.sysconfig.get_link_flags()).__name__
        'list'
    """
    return [f"-L{get_lib()}"]
