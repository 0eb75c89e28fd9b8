"""`python -m everflow` is the `everflow` command."""

import sys

from everflow.cli import main

sys.exit(main())
