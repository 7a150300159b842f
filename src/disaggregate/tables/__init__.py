"""Stage 1, tables in: files, dataframes and arrays become plain columns."""
