"""Other ways to order a ranking, behind the same interface: what equity of attention is compared with."""
