"""What can be asked about R-susceptibility: a job and its answer each. They load what is heavy when they run."""
