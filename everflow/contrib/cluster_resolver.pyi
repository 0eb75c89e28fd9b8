# Made by `make stubs`.
from everflow.distribute.cluster_resolver import UnionResolver as _UnionResolver

from everflow.distribute.cluster_resolver import ClusterResolver as ClusterResolver
from everflow.distribute.cluster_resolver import SimpleClusterResolver as SimpleClusterResolver
from everflow.distribute.cluster_resolver import TFConfigClusterResolver as TFConfigClusterResolver
from everflow.distribute.cluster_resolver import TPUClusterResolver as TPUClusterResolver
UnionClusterResolver = _UnionResolver
from everflow.distribute.cluster_resolver import UnionResolver as UnionResolver
