"""tf.contrib.cluster_resolver: `tf.distribute.cluster_resolver` under its first name."""

from everflow.distribute.cluster_resolver import (  # noqa: F401
    ClusterResolver,
    SimpleClusterResolver,
    TFConfigClusterResolver,
    TPUClusterResolver,
    UnionResolver,
)
from everflow.distribute.scheduler_resolvers import (  # noqa: F401
    GCEClusterResolver,
    KubernetesClusterResolver,
    SlurmClusterResolver,
)

UnionClusterResolver = UnionResolver
