# Made by `make stubs`.
from typing import Any
from absl.flags import *

FLAGS: Any
