"""What can be asked about releases: make, plan, check and use them, keep their budget, attack them."""
