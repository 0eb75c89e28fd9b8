"""Names inside `tensorflow.python.data`."""
