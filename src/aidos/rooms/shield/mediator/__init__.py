"""Mediator accounts: queries of many people issued from shared accounts, so that no account looks like a person."""
