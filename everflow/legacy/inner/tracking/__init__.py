"""Names that programs take from inside TensorFlow's `training.tracking`: a file for each of its modules."""
