"""`import everflow.as_tensorflow`, and from then on `import tensorflow` gives everflow, with all module paths below it
(`legacy/`), `import horovod` and `import gast` what is here where none is installed, and Python, numpy and scipy have again what programs of that time expect of them.
"""

from __future__ import annotations

from everflow.legacy import companions, shims
from everflow.legacy.paths import install

install()
companions.install()
shims.bring_back()
