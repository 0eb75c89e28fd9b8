"""Everflow in notebooks: how things are shown (`displays.py`, `graph_view.py`), and `%load_ext everflow` (`magics.py`)."""
