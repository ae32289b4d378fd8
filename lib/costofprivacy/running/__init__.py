"""Running an experiment: Monte Carlo, blocks, stamps, what a run costs, a cluster, extra environments."""
