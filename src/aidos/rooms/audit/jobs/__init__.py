"""The jobs of the audit room: pairs checked, a profile learned, its evidence shown, two audits compared."""
