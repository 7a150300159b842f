"""Stage 6, what comes out: draws, diagnostics, predictions, rates of subgroups."""
