"""Thousands of damaged .max files: each ends in a scene or one clear error, within 2 s, and the memory does not grow.

    python fuzz/max_files.py FILE.max [FILE.max ...] --seed 0 --count 20000

Prints the seed and the count, how the files ended, the slowest, and the memory; exit code 1 when something else happens.
The damage and what is done with a file: tests/max_mutations.py.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from max_mutations import mutate, sample, take_it

MOST_SECONDS, MOST_MEGABYTES, GROWTH_MEGABYTES = 2.0, 500, 100


def peak() -> int:
    """Return the most memory that this process has held, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def main() -> int:
    """Run the count and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=20000)
    arguments = parser.parse_args()
    samples = [sample(path) for path in arguments.files]
    warnings.simplefilter("error")
    ends: Counter[str] = Counter()
    slowest, early = 0.0, 0
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(arguments.count):
            seed = arguments.seed + number
            draw = random.Random(seed)  # noqa: S311 - test data, not secrets
            given = draw.choice(samples)
            content = mutate(draw, given)
            try:
                outcome = take_it(content, Path(folder) / "damaged.max")
            except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
                failures.append(f"seed {seed}, {given.name}: {type(error).__name__}: {error}")
                continue
            ends[outcome.end] += 1
            if outcome.seconds > MOST_SECONDS:
                failures.append(f"seed {seed}, {given.name}: {outcome.seconds:.1f} s")
            slowest = max(slowest, outcome.seconds)
            if number == arguments.count // 10:
                early = peak()
    grown = peak() - early
    if peak() > MOST_MEGABYTES or grown > GROWTH_MEGABYTES:
        failures.append(f"memory: peak {peak()} MB, {grown} MB more than after a tenth of the files")
    for failure in failures[:50]:
        print(failure)
    told = f"{ends['scene']} scenes, {ends['error']} errors, {len(failures)} failures"
    print(f"seed {arguments.seed}, {arguments.count} files: {told}")
    print(f"slowest {slowest:.2f} s, peak memory {peak()} MB, {grown} MB more than after a tenth of the files")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
