"""What an op does, on torch tensors: a folder for each family, named as in `ops`. `registry.py` is where they are found by op type."""
