"""One small module per format: how it is recognised, and how its lines become rows of one of the house's schemas."""
