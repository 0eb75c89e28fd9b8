# Made by `make stubs`.

from everflow.contrib.slim.nets import alexnet as alexnet
from everflow.contrib.slim.nets import inception as inception
from everflow.contrib.slim.nets import overfeat as overfeat
from everflow.contrib.slim.nets import resnet_utils as resnet_utils
from everflow.contrib.slim.nets import resnet_v1 as resnet_v1
from everflow.contrib.slim.nets import resnet_v2 as resnet_v2
from everflow.contrib.slim.nets import vgg as vgg
