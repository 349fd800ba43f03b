"""What the commands on R-susceptibility and their chapter of the demo share."""
