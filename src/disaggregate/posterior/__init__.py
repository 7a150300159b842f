"""Stage 6, results: draws, diagnostics, predictions, rates of subgroups."""
