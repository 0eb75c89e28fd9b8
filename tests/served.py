"""Importing this lets tests import tensorflow. `everflow.as_tensorflow` would also give numpy its ways of that time, in the
whole process and so to every other test.
"""

from everflow.legacy import paths

paths.install()
