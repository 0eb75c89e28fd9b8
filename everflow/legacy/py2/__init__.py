"""Python 2 programs: what Python 3 needs changed in their text (`syntax.py`), and what their names and signs mean
(`meaning.py`, `names.py`), so that they run as they did.
"""
