"""Random numbers: TensorFlow's, bit for bit."""
