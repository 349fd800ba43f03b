"""Experiments on the audit of hidden profiles (LTP): what is found again, told apart, missed and falsely alarmed."""
