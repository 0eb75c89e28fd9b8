"""Names of the past: module paths of TensorFlow's own tree, its generated op functions, and what programs took from
inside its modules.

`path_table.py` and `contrib_paths.py` say which modules serve a path, `path_rules.py` which packages a folder; `inner/`
has names that only such paths lead to, a file for each part of TensorFlow's tree.
"""
