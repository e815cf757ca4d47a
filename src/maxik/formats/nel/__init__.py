"""NeL's `.skel` and `.anim`: readers and writers that keep every byte, and the writer of a baked scene.

    stream.py      the primitives of both: numbers, strings, versions, pointers
    skel.py        a skeleton               anim.py        an animation           tracks.py   the tracks in it
    packing.py     rotations as NeL keeps them: normalised, on one hemisphere, as 16-bit codes
    sampled.py     tracks of a baked scene, a key a frame      keyed.py   tracks of the keys that the exporter knows
    built.py       resampling, thinning, packing, as the animation builder does it
    write_anim.py  a baked scene as a file, and what the file leaves out

Written from nel-facts.md alone; docs/nel.md says what is read, what is written, and what is not settled.
"""
