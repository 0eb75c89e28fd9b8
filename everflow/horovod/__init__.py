"""Horovod's interface for TensorFlow 1, on process groups of torch. `everflow run` and `everflow launch` serve it as `horovod` where
none is installed.
"""
