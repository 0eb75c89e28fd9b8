"""tf.keras.applications: models of images, with weights learned on ImageNet where they can be downloaded."""

# ruff: noqa: F401  The re-exports are the purpose of this file.

from __future__ import annotations

from everflow.keras.applications import (
    densenet,
    imagenet_utils,
    inception_resnet_v2,
    inception_v3,
    mobilenet,
    mobilenet_v2,
    nasnet,
    resnet,
    resnet50,
    resnet_v2,
    vgg16,
    vgg19,
    xception,
)
from everflow.keras.applications.densenet import DenseNet121, DenseNet169, DenseNet201
from everflow.keras.applications.inception_resnet_v2 import InceptionResNetV2
from everflow.keras.applications.inception_v3 import InceptionV3
from everflow.keras.applications.mobilenet import MobileNet
from everflow.keras.applications.mobilenet_v2 import MobileNetV2
from everflow.keras.applications.nasnet import NASNetLarge, NASNetMobile
from everflow.keras.applications.residual import ResNet50, ResNet50V2, ResNet101, ResNet101V2, ResNet152, ResNet152V2
from everflow.keras.applications.vgg import VGG16, VGG19
from everflow.keras.applications.xception import Xception
