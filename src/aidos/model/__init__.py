"""What data say, without promises: topics, words, language models."""
