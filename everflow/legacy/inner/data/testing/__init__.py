"""What tests of pipelines stand on: TestCases by the paths that TensorFlow's own package has them at."""
