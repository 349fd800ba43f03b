"""Compiled code of the exposure room: plain arrays in, plain arrays out."""
