"""Names that programs take from inside TensorFlow's modules of SavedModels: a file for each kind of thing."""
