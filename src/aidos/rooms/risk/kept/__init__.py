"""What is kept of people so that ranks stay up to date: evidence, its entries, classes of people, sorted risks."""
