"""Stage 1, tables in: files, dataframes and arrays become plain columns.

The modules by what they do; in each list the first one leads to the others:

- Two tables of a fit: ``two_tables``, ``roles``, ``column_roles``, ``guess``, ``ids``, ``group_names``,
  ``outcome``.
- Files: ``files``, ``formats``, ``reading``, ``csv_files``, ``text_style``, ``parquet_files``, ``folders``,
  ``excel_files``, ``dataframes``.
- Values: ``kinds``, ``amounts``, ``percentages``, ``report_numbers``.
- Features become a matrix: ``encoding``, ``encoded_columns``, ``counted_columns``, ``schema``, ``people``.
- Reports become evidence: ``evidence_columns``, ``outcome_columns``; how much rows count: ``counts``.
- Arrays given to the classifier: ``features``, ``targets``, ``outcome_targets``, ``labels``, ``per_row``.
- Checks: ``check``, ``check_groups``, ``check_reports``, ``check_counts``, ``check_features``, ``check_spread``,
  ``check_values``, ``check_rows``, ``between_groups``; what they find: ``problems``, ``messages``,
  ``row_numbers``.
- Tables out: ``writing``, ``formulas``, ``rounding``, ``suppression``.
"""
