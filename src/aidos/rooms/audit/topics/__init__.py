"""What results are about: topics of a taxonomy, topics learned from the results, or topics that somebody gives."""
