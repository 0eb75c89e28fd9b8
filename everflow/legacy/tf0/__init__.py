"""TensorFlow 0.12, for programs of 2016: what its names and argument orders mean today (`table.py`), its recurrent cells,
how such a program is recognised by its source, and the `tensorflow` it imports (`namespace.py`).
"""

from __future__ import annotations


def install() -> None:
    """From now on `import tensorflow` gives names their meanings of TensorFlow 0.12."""
    from everflow.legacy.tf0 import namespace  # loads everything recurrent, Keras below it

    namespace.install()
