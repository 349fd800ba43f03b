"""Which profile an engine holds of somebody, learned from personalised and vanilla result lists."""
