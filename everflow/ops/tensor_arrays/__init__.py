"""TensorArrays and lists of tensors."""
