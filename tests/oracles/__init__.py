"""What fast code is compared with: plain loops straight from the formulas, slow on purpose."""
