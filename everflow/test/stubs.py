"""StubOutForTesting: replace attributes for the time of a test."""

from __future__ import annotations

import inspect


class StubOutForTesting:
    """Remembers what it replaced, and puts it back.

    Example:
        >>> import os.path
        >>> with tf.test.StubOutForTesting() as stubs:
        ...     stubs.SmartSet(os.path, "exists", lambda path: True)
        ...     print(os.path.exists("missing"))
        True
        >>> os.path.exists("missing")
        False
    """

    def __init__(self):
        self._replaced = []
        self._smartly_replaced = []

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.CleanUp()

    def CleanUp(self):
        """Undo everything."""
        self.SmartUnsetAll()
        self.UnsetAll()

    def SmartSet(self, obj, attr_name, new_attr):
        """Replace an attribute of a module, class or object where it is defined: a static method stays one."""
        if inspect.ismodule(obj) or (not inspect.isclass(obj) and attr_name in vars(obj)):
            owner, old = obj, getattr(obj, attr_name)
        else:
            classes = inspect.getmro(obj if inspect.isclass(obj) else type(obj))
            owner = next((cls for cls in classes if attr_name in vars(cls)), None)
            if owner is None:
                raise AttributeError(f"Attribute {attr_name!r} not found.")
            old = vars(owner)[attr_name]
        self._smartly_replaced.append((owner, attr_name, old))
        setattr(owner, attr_name, new_attr)

    def SmartUnsetAll(self):
        self._put_back(self._smartly_replaced)

    def Set(self, parent, child_name, new_child):
        """Replace `parent.child_name`."""
        self._replaced.append((parent, child_name, vars(parent).get(child_name, getattr(parent, child_name))))
        setattr(parent, child_name, new_child)

    def UnsetAll(self):
        self._put_back(self._replaced)

    @staticmethod
    def _put_back(replaced):
        while replaced:
            parent, name, old = replaced.pop()
            setattr(parent, name, old)
