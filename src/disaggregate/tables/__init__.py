"""Stage 1, tables in: dataframes and arrays become plain columns. Only this folder knows dataframes."""
