"""The compiled parts of mediator accounts."""
