# Made by `make stubs`.

from everflow import batch_to_space_nd as batch_to_space_nd
from everflow import gather_nd as gather_nd
from everflow import reshape as reshape
from everflow import reverse as reverse
from everflow import roll as roll
from everflow import scatter_nd as scatter_nd
from everflow import space_to_batch_nd as space_to_batch_nd
from everflow import tile as tile
