"""tf.contrib.cluster_resolver: `tf.distribute.cluster_resolver` under its first name."""

from everflow.distribute.cluster_resolver import (  # noqa: F401
    ClusterResolver,
    SimpleClusterResolver,
    TFConfigClusterResolver,
    UnionResolver,
)
from everflow.distribute.scheduler_resolvers import (  # noqa: F401
    GCEClusterResolver,
    KubernetesClusterResolver,
    SlurmClusterResolver,
)
from everflow.distribute.tpu_resolver import TPUClusterResolver  # noqa: F401

UnionClusterResolver = UnionResolver
