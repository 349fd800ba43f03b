"""Experiments on profile generalisation (UPS): cost, trade-off, quality, the eavesdropper, and re-ranking."""
