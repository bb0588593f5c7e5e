"""A sharded library searched by a cluster: groups of shards, their answers merged."""
