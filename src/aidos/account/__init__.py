"""What a promise costs: composition, calibration, ledger."""
