"""TensorFlow's `python.framework`: inner names of its modules, a file for those that belong together."""
