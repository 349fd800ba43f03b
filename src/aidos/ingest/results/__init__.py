"""Result lists that others saved, as pairs for the audit: found by their content, cleaned, and joined by query."""
