"""The executable specification: the limb solver and every [CORE] item in plain Python scalars, under any profile.

Read it beside spec.md: point3 (2.6), matrix3 (2.4, 2.7), quat (2.2, 2.3, 2.8), rotation and euler (2.4), trig (2.1, 2.9),
chain (2.5), limb (3). core holds the machine, items the item table, engine the `Engine` of problems.py.
"""
