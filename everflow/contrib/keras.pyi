# Made by `make stubs`.

from everflow.keras import activations as activations
from everflow.keras import applications as applications
from everflow.keras import backend as backend
from everflow.keras import callbacks as callbacks
from everflow.keras import constraints as constraints
from everflow.keras import datasets as datasets
from everflow.keras import initializers as initializers
from everflow.keras import layers as layers
from everflow.keras import losses as losses
from everflow.keras import metrics as metrics
from everflow.keras import models as models
from everflow.keras import optimizers as optimizers
from everflow.keras import preprocessing as preprocessing
from everflow.keras import regularizers as regularizers
from everflow.keras import utils as utils
from everflow.keras import wrappers as wrappers
