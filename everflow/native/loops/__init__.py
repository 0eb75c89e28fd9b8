"""Loops over bytes and pixels as machine code: hashes, text, numbers in text, CSV, Unicode, records, images.

They are written in a small part of Python (`words.py`, `translation.py`), compiled once they are worth it
(`library.py`), and read Python's bytes objects where they lie (`objects.py`). Kernels without them give the same.
"""
