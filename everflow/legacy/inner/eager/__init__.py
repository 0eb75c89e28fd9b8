"""Names that programs take from inside TensorFlow's `eager`: a file for each of its modules."""
