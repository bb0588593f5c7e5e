"""Libraries in shards, for more than one machine: built and searched by a cluster."""
