"""TensorFlow 0.12, for programs of 2016: what its names and argument orders mean today (`table.py`), its recurrent cells,
how such a program is recognised by its source, and the `tensorflow` it imports (`namespace.py`).
"""
