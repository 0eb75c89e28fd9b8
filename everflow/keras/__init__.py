"""tf.keras."""
