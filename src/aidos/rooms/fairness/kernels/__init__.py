"""The compiled inner loops of the exact solver: arrays in, arrays out, no objects."""
