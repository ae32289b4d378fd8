"""Running an experiment: Monte Carlo, blocks, stamps, limits of memory, a cluster, extra environments."""
