"""What TensorFlow's `autograph` has inside, for libraries that transform Python's source with it.

Everflow's own conversion (`ops/autograph`) doesn't need it: here are syntax trees with annotations, names, templates and
transformations of trees, as programs call them.
"""
