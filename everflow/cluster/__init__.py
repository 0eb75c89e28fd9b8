"""Clusters: which tasks there are, the servers they run, and sessions that reach them over gRPC.

`cluster` describes, `server` serves, `client` is what a Session talks to. Behind a server, `master` cuts a run over the
tasks (`partition`) and each task's `worker` runs its part; `wire` has the calls between them. Only `wire` and `server`
know gRPC, and they load when first needed.
"""
