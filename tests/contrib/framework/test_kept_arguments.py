"""Objects that keep their arguments."""

from everflow.contrib.framework.kept_arguments import keep


def test_objects_keep_their_arguments():
    class Cell:
        def __init__(self, units, bias=True, other=None, name=None):
            keep(self, locals(), "other")

    assert vars(Cell(3)) == {"_units": 3, "_bias": True}
