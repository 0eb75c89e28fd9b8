"""Names that programs take from inside TensorFlow's modules and that nothing here needs: a file for each part of its
tree.
"""
