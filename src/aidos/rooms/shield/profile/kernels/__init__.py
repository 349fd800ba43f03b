"""The compiled parts of profile generalisation."""
