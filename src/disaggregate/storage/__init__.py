"""Files on disk: atomic writes, locks against a second fit, and the growing draws of a chain."""
