"""What TensorFlow's tests of ops are derived from: cases that hold operators, bijectors and parallel loops against plain computations."""
