"""What a spline solve costs: samples, time a sample, and where the instructions go, by leaps and literally."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from instructions import build, by_kind, count
from maxik.kernel.choices import LEAP, LITERAL
from maxik.kernel.engine import KernelEngine, SplineCall
from maxik.kernel.settings import KernelSettings
from maxik.oracle.engine import spline_payload
from maxik.oracle.protocol import SPLINE, request
from maxik.profile import PROFILES
from maxik.verify.spline_problems import KINDS, make_problem
from timing import in_turn, table

REFERENCE = "candidate-1"
PROBLEMS = 200
_KINDS_OF_SPLINE = {
    "samples of the spline": r"bernstein|spline_position|sample|point_transform|point3_flength|point3_subtract",
    "certificates": r"spline_leap.c:(certified|squared_distance|hull_inside|crossing|leap$|march_limits|norm)",
    "segments and bounds, once a solve": r"leap_segment|norm_of|leap_begin",
    "runs of equal steps": r"steady_run|advance|power_of_two",
    "the march": r"march_|place_first|rescan|probe|first_step|append|thresholds",
    "frames and twist (4.4)": r"frames_and|bone_|quat|euler|rot|atan|sin|matrix3|cross|unify|normal|dominant|row3|unit_axis",
}


def _solve_all(calls: list[SplineCall]) -> None:
    for call in calls:
        call.solve()


def splines(folder: Path) -> Iterator[str]:
    """Spline solves: samples a solve, time a sample, where the instructions go."""
    yield "## Splines"
    yield ""
    yield "The certified leap against the literal march over 200 problems of every kind, solved in turn."
    yield ""
    rows = []
    for kind in (kind for kind in KINDS if kind != "degenerate"):
        calls: dict[str, list[SplineCall]] = {}
        for march in (LITERAL, LEAP):
            kernel = KernelEngine(PROFILES[REFERENCE], KernelSettings(march))
            calls[march] = [kernel.spline_call(make_problem(kind, seed)) for seed in range(PROBLEMS)]
        timed = in_turn({march: partial(_solve_all, each) for march, each in calls.items()}, rounds=5)
        samples = {march: sum(call.struct.samples for call in each) / len(each) for march, each in calls.items()}
        seconds = {march: entry.seconds / PROBLEMS for march, entry in timed.items()}
        cells = [
            cell
            for march in calls
            for cell in (
                f"{samples[march]:,.0f}",
                f"{1e6 * seconds[march]:.1f}",
                f"{1e9 * seconds[march] / samples[march]:.0f}",
            )
        ]
        rows.append([kind, *cells, f"{timed[LEAP].ratio:.1f}"])
    each = ("samples", "µs a solve", "ns a sample")
    yield from table(["kind", *(f"{march}: {what}" for march in (LITERAL, LEAP) for what in each), "times literal"], rows)
    yield "Instructions of the kernel's program over 60 open problems, by what they do:"
    yield ""
    rows = []
    oracle = build(folder, "oracle_main.c")
    for march in (LITERAL, LEAP):
        rows.append([march, *_spline_instructions(folder, oracle, march, 60)])
    yield from table(["march", *_KINDS_OF_SPLINE, "other", "a sample"], rows)


def _spline_instructions(folder: Path, oracle: Path, march: str, problems: int) -> list[str]:
    """Return the shares of every kind, and the instructions a sample, of as many problems again as the first `problems`."""
    kernel = KernelEngine(PROFILES[REFERENCE], KernelSettings(march))
    asked = [make_problem("open_curve", seed) for seed in range(2 * problems)]
    samples = sum(kernel.solve_spline(problem).samples for problem in asked[problems:])
    requests = [request(SPLINE, 1, spline_payload(problem, march)) for problem in asked]
    found = count(folder, [str(oracle)], b"".join(requests))
    found.subtract(count(folder, [str(oracle)], b"".join(requests[:problems])))
    kinds = by_kind(found, _KINDS_OF_SPLINE)
    whole = sum(kinds.values())
    shares = [f"{100 * kinds[kind] / whole:.0f} %" for kind in [*_KINDS_OF_SPLINE, "other"]]
    return [*shares, f"{whole / samples:,.0f}"]
