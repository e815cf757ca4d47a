"""Scenes: nodes with controllers, node TMs at a time, IK chains as solver problems and back (design: rooms)."""
