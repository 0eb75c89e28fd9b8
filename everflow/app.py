"""tf.app: `tf.app.run(main)` and `tf.app.flags`."""

from everflow.platform import flags  # noqa: F401
from everflow.platform.app import run  # noqa: F401
