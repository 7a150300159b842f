"""A page on one's own machine: two tables in, an answer out. Everything it computes is a call of the library."""
