"""Models and weights in files: HDF5, TensorFlow's checkpoints, JSON and YAML."""
