"""Names that programs take from inside TensorFlow's `distribute`."""
