"""What an op is: build functions, shape rules and gradients, a file a family. What an op does is in `kernels`; both
meet in its name.
"""

from everflow.framework.registry import Families, add_families

# Linear operators only build on others, and AutoGraph converts Python.
add_families(Families(__name__, without=frozenset(["linalg.operators", "autograph"])))
