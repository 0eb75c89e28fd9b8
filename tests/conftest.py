"""Settings for all tests."""

import os

# Workers run side by side: one thread each. Set before anything loads torch.
os.environ.setdefault("OMP_NUM_THREADS", "1")
