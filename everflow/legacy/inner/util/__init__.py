"""TensorFlow's `python.util`: what programs and libraries take from it for themselves."""
