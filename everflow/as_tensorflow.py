"""`import everflow.as_tensorflow`, and from then on `import tensorflow` gives everflow, with all module paths below it
(`legacy/`).
"""

from __future__ import annotations

from everflow.legacy.paths import install, installed_tensorflow  # noqa: F401  the command line asks what it hides

install()
