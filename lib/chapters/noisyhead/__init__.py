"""The chapters on NoisyHead."""
