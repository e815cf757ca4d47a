"""File formats: readers that give a Scene, writers that take a BakedScene. None of them calls a solver."""
