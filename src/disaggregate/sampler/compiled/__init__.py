"""Compiled twins of the plain NumPy blocks: same names, same arguments, same draws.

Each function here does what its namesake in the parent folder documents; comments say only what is
done differently for speed.
"""
