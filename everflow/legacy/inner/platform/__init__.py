"""TensorFlow's `python.platform`: what its unit tests take from it."""
