"""Latent topics: what a body of text is about, learnt from it, and how short texts are placed among the topics."""
