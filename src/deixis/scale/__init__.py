"""Past one machine: libraries in shards, built and searched by a cluster."""
