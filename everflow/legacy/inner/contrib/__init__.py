"""Names inside packages of `tf.contrib`."""
