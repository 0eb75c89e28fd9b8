"""What TensorFlow Lite's built-in ops do: on floats mostly what ops of TensorFlow do, on 8-bit integers their own
fixed-point arithmetic.
"""
