"""Names that programs take from inside tf.contrib: a file for each of its packages."""
