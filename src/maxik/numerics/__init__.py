"""The reference machine in Python: float32 rounding, register precision, the C runtime's functions, bit helpers.

Depends on nothing but the standard library. Sources: spec 1.1, core-profile.md (Notation, environment),
vectors/crt/README.md.
"""
