"""tf.flags: absl's flags as TensorFlow 1 has them."""

from everflow.platform.flags import *  # noqa: F403
from everflow.platform.flags import FLAGS, DEFINE_bool, DEFINE_boolean, DEFINE_float, DEFINE_integer, DEFINE_string  # noqa: F401
