"""The surfaces: command line, catalogue, the one door. Nothing below imports them."""
