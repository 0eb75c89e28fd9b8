"""Names that programs take from inside TensorFlow's modules of ops, a file for each kind."""
