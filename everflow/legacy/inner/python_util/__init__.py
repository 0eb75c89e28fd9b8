"""Names that programs take from inside TensorFlow's `python.util`, a file for each kind."""
