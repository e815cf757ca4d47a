"""The command line: parses, calls one function, prints. Errors are one line on stderr; exit codes 0, 1, 2 (design 8).

argparse, since it answers `--help` several times faster than a library with more comfort; everything heavy (numpy,
readers, engines) is imported only by the command that needs it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from maxik.cli_workbench import add_workbench
from maxik.errors import MaxikError, UsageError
from maxik.kernel.choices import AUTO, LEAP, LIMB_PATHS, MARCHES
from maxik.terminal import ProgressBar, add_command

if TYPE_CHECKING:
    from maxik.bake import BakeOptions
    from maxik.formats.writers import WriteOptions
    from maxik.kernel.settings import KernelSettings
    from maxik.problems import Engine
    from maxik.scene.motion import BakedScene

LONG_TAKE = 2_000_000
"""Nodes times frames from which a bake shows a progress bar."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 a check failed or a file could not be baked, 2 wrong usage."""
    arguments = make_parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except MaxikError as error:
        print(f"maxik: {error}", file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("maxik: interrupted", file=sys.stderr)
        return 1


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="maxik", description="Evaluate 3ds Max IK rigs without 3ds Max, with the reference's own float32 bits."
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    parser.set_defaults(run=_version)
    commands = parser.add_subparsers(metavar="COMMAND")

    bake = add_command(commands, "bake", _bake, "solve a scene's IK and write its motion")
    bake.add_argument("scene", metavar="SCENE", help="a .max file or a scene JSON file")
    bake.add_argument(
        "-o",
        "--output",
        action="append",
        required=True,
        metavar="OUT",
        help="output file: .glb, .gltf, .bvh, .json, .csv, .npz, .parquet, .usda, .usdc, .anim; may be given several times",
    )
    _take_options(bake)
    bake.add_argument(
        "--reduce",
        type=float,
        default=0.0,
        metavar="E",
        help="leave out glTF keys within this error, parts of the scene's size and radians (default: a key a frame)",
    )
    bake.add_argument("--no-bones", action="store_true", help="glTF without skin and bone mesh")
    bake.add_argument("--bvh-order", default="zxy", metavar="ZXY", help="order of BVH's rotation channels (default: zxy)")
    bake.add_argument("--nel", choices=("raw", "packed"), default="raw", help=".anim: float32 keys, or built (default: raw)")
    bake.add_argument(
        "--nel-mode",
        choices=("faithful", "bake"),
        default="bake",
        help=".anim: the keys that NeL's exporter would have written, or every node sampled (default: bake)",
    )
    bake.add_argument("--report", metavar="R.json", help="also write the certificate here")
    _engine_options(bake)
    _kernel_options(bake)

    view = add_command(commands, "view", _view, "write a page that shows the solved scene in 3D, with its diagnoses")
    view.add_argument("scene", metavar="SCENE", help="a .max file or a scene JSON file")
    view.add_argument("-o", "--output", required=True, metavar="OUT.html", help="output file; it works offline")
    _take_options(view)
    _engine_options(view)
    _kernel_options(view)

    inspect = add_command(commands, "inspect", _inspect, "show nodes, controllers, IK chains, and what cannot be evaluated")
    inspect.add_argument("scene", metavar="SCENE", help="a .max file or a scene JSON file")
    inspect.add_argument("--json", action="store_true", help="print JSON, format maxik-inspect/1, instead of text")

    convert = add_command(commands, "convert", _convert, "write a scene as scene JSON")
    convert.add_argument("scene", metavar="SCENE", help="a .max file or a scene JSON file")
    convert.add_argument("-o", "--output", required=True, metavar="OUT.scene.json", help="output file")

    verify = add_command(commands, "verify", _verify, "compare an engine with vector files, bit for bit")
    verify.add_argument("vectors", nargs="*", metavar="VECTORS", help="vector files (.jsonl)")
    verify.add_argument("--spill", action="store_true", help="instead, tell which solves register spills could change (slow)")
    verify.add_argument("--frozen", action="store_true", help="also check the frozen hashes of a fixed corpus")
    verify.add_argument("--report", metavar="R.json", help="also write the result here as JSON")
    _engine_options(verify)
    _kernel_options(verify)

    oracle = add_command(commands, "oracle", _oracle, "build the kernel with other compilers and ask them for their bits")
    oracle.add_argument("action", choices=("build", "status", "run"), help="what to do; run takes a target and vector files")
    oracle.add_argument("what", nargs="*", metavar="TARGET", help="native, x87-gcc, wine-mingw, wine-cl (default: all)")
    oracle.add_argument("-O", dest="level", choices=("0", "1", "2", "3"), default="2", help="optimisation (default: 2)")

    add_workbench(commands)
    return parser


def _take_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--range", metavar="A:B", help="first and last frame, at --fps (default: the scene's range)")
    command.add_argument("--fps", type=float, metavar="N", help="frames a second to sample (default: the scene's)")
    command.add_argument("--spill", action="store_true", help="also report the frames that register spills could change (slow)")
    command.add_argument(
        "--skip-unsupported",
        action="store_true",
        help="leave chains of a solver that maxik does not evaluate to their FK pose, instead of refusing the scene",
    )


def _engine_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--profile",
        default="candidate-1",
        metavar="P",
        help="candidate-1, max-2016-x64, with changes as in candidate-1,ITEM=CANDIDATE",
    )
    command.add_argument(
        "--engine", choices=("kernel", "model"), help="what evaluates (default: the kernel where it can, else the model)"
    )


def _kernel_options(command: argparse.ArgumentParser) -> None:
    """Add what KernelSettings takes; none of it changes a bit of the result."""
    command.add_argument("--march", choices=MARCHES, default=LEAP, help="how splines are marched; changes no bit")
    command.add_argument(
        "--limb-path",
        choices=(AUTO, *LIMB_PATHS),
        default=AUTO,
        help="how limbs are solved; changes no bit (default: auto, the widest vectors of this machine)",
    )
    command.add_argument(
        "--threads", type=int, metavar="N", help="threads; changes no bit (default: MAXIK_THREADS, else every core)"
    )


def _kernel_settings(arguments: argparse.Namespace) -> KernelSettings:
    from maxik.kernel.settings import KernelSettings

    return KernelSettings(arguments.march, arguments.limb_path, arguments.threads)


def _version(arguments: argparse.Namespace) -> int:
    if arguments.version:
        from importlib.metadata import version

        print(f"maxik {version('maxik')}")
        return 0
    make_parser().print_help(sys.stderr)
    return 2


def _bake(arguments: argparse.Namespace) -> int:
    import json

    from maxik.bake import bake_file, write_bake
    from maxik.formats.whole_file import write_whole
    from maxik.formats.writers import WriteOptions, writer_for

    for path in arguments.output:
        writer_for(path)
    options = _bake_options(arguments)
    writing = WriteOptions(
        reduce=_error(arguments.reduce),
        bones=not arguments.no_bones,
        bvh_order=arguments.bvh_order,
        nel_tracks=arguments.nel,
        nel_mode=arguments.nel_mode,
    )
    with ProgressBar("baking") as progress:
        baked, certificate = bake_file(arguments.scene, options, progress)
    left_out = _left_out(baked, arguments.output, writing)
    write_bake(baked, certificate, arguments.output, writing)
    if arguments.report:
        write_whole(arguments.report, (json.dumps(certificate, indent=2, ensure_ascii=False) + "\n").encode())
    for line in _bake_summary(certificate, [*arguments.output, *([arguments.report] if arguments.report else [])]):
        print(line)
    if left_out:
        print(left_out)
    return 0


def _left_out(baked: BakedScene, outputs: Sequence[str], options: WriteOptions) -> str:
    """Return the line about what an `.anim` among the outputs leaves out, or nothing."""
    if not any(path.lower().endswith(".anim") for path in outputs):
        return ""
    from maxik.formats.nel.write_anim import left_out, left_out_line

    entries = left_out(baked, options)
    return left_out_line(entries) if entries else ""


def _bake_options(arguments: argparse.Namespace) -> BakeOptions:
    from maxik.bake import BakeOptions
    from maxik.profile import parse_profile

    return BakeOptions(
        frames=_frame_range(arguments.range),
        fps=arguments.fps,
        profile=parse_profile(arguments.profile),
        engine=arguments.engine,
        kernel=_kernel_settings(arguments),
        spill=arguments.spill,
        skip_unsupported=arguments.skip_unsupported,
    )


def _view(arguments: argparse.Namespace) -> int:
    from maxik.bake import bake_file
    from maxik.formats.whole_file import write_whole
    from maxik.view.page import render_page

    with ProgressBar("baking") as progress:
        baked, certificate = bake_file(arguments.scene, _bake_options(arguments), progress)
    write_whole(arguments.output, render_page(baked, certificate))
    for line in _bake_summary(certificate, [arguments.output]):
        print(line)
    return 0


def _bake_summary(certificate: dict, written: Sequence[str]) -> list[str]:  # type: ignore[type-arg]
    from maxik.scene.scene import HI

    span = certificate["range"]
    engine = certificate["engine"]
    lines = [
        (
            f"{certificate['scene']['file']}: {certificate['scene']['nodes']} nodes, {span['frames']} frames at "
            f"{span['frame_rate']:g} a second, {engine['engine']} ({engine['environment']}), "
            f"profile {certificate['profile']['name']}"
        )
    ]
    lines += [f"notice: {notice}" for notice in certificate["notices"]]
    for chain in certificate["chains"]:
        miss = chain["worst_goal_miss_in_reach"]
        reached = "never in reach" if miss is None else f"worst miss in reach {miss:.2g}"
        follows = f"on {chain['shape']!r}" if chain["shape"] is not None else reached
        how = f"{chain['solver']}, {chain['method']}" if chain["solver"] == HI else chain["solver"]
        lines.append(f"solved: {chain['name']!r} ({how}), {chain['frames_solved']} frames, {follows}")
        lines += [f"  {cause}: {entry['frames']} frames" for cause, entry in chain["degenerate"].items()]
        if chain["non_uniform_scale"]:
            lines.append("  non-uniform scale inside the chain: the rule for it is not settled")
    lines += [
        f"not solved: {chain['name']!r} ({chain['solver']}): {chain['reason']}" for chain in certificate["chains_not_solved"]
    ]
    held = len(certificate["not_evaluated"])
    if held:
        lines.append(f"not evaluated, or on an assumption: {held} (named in the certificate and by maxik inspect)")
    security = [entry["what"] for entry in certificate["not_evaluated"] if entry["kind"] == "security"]
    lines += [f"WARNING: {what}" for what in security]
    resting = len(certificate["resting_on_held"])
    if resting:
        lines.append(f"resting on a node that is held: {resting} nodes (named in the certificate)")
    for entry in certificate.get("spill", ()):
        changed = f"{entry['changed_by_one_spill']} changed by one spill, {entry['changed_by_all_together']} by all together"
        lines.append(f"spills, {entry['chain']!r}: {entry['stable']} of {entry['problems']} stable, {changed}")
    if certificate["not_finite"]:
        lines.append(f"not finite somewhere: {len(certificate['not_finite'])} nodes (named in the certificate)")
    outside = len(certificate["evaluated_outside_keys"])
    if outside:
        lines.append(f"evaluated outside their keys, end value held: {outside} tracks (named in the certificate)")
    lines.append(f"raw output SHA-256 {certificate['raw_output_sha256']}")
    lines.append(f"written: {', '.join(written)}")
    return lines


def _error(reduce: float) -> float:
    if not 0.0 <= reduce < 1.0:
        message = f"--reduce {reduce:g} is not an error from 0 up to 1"
        raise UsageError(message)
    return reduce


def _frame_range(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    first, colon, last = text.partition(":")
    try:
        return float(first), float(last if colon else first)
    except ValueError:
        message = f"--range {text!r} is not of the form A:B, two frame numbers"
        raise UsageError(message) from None


def _inspect(arguments: argparse.Namespace) -> int:
    import json

    from maxik.formats.load import load_scene
    from maxik.inspect import inspect_scene, render

    inspection = inspect_scene(load_scene(arguments.scene))
    if arguments.json:
        print(json.dumps(inspection, indent=1, ensure_ascii=False, allow_nan=False))
        return 0
    for line in render(inspection):
        print(line)
    return 0


def _convert(arguments: argparse.Namespace) -> int:
    from maxik.formats.load import load_scene
    from maxik.formats.scene_json import write_scene_json

    if not arguments.output.endswith(".json"):
        message = "maxik converts to scene JSON; the name of the output ends in .json"
        raise UsageError(message, file=arguments.output)
    scene = load_scene(arguments.scene)
    write_scene_json(scene, arguments.output)
    print(f"{scene.file}: {len(scene.nodes)} nodes, {len(scene.chains)} IK chains, {len(scene.notices)} notices")
    print(f"written: {arguments.output}")
    return 0


def _verify(arguments: argparse.Namespace) -> int:
    from maxik.engines import make_engine
    from maxik.formats.whole_file import write_whole
    from maxik.profile import parse_profile
    from maxik.verify import render, to_json, verify_files

    engine, notices = make_engine(arguments.engine, parse_profile(arguments.profile), _kernel_settings(arguments))
    for notice in notices:
        print(f"notice: {notice}", file=sys.stderr)
    if not arguments.vectors and not arguments.frozen:
        message = "nothing to verify: name vector files, or --frozen"
        raise UsageError(message)
    if arguments.spill:
        return _spills(arguments)
    wrong = _frozen(engine) if arguments.frozen else 0
    report = verify_files(arguments.vectors, engine)
    if arguments.report:
        write_whole(arguments.report, to_json(report).encode())
    if arguments.vectors:
        print(render(report))
    return 0 if report.failed == 0 and wrong == 0 else 1


def _spills(arguments: argparse.Namespace) -> int:
    """Print what spills could change of the solves in vector files; what else the files hold is left out, and said."""
    import json

    from maxik.formats.whole_file import write_whole
    from maxik.profile import parse_profile
    from maxik.spilling import spill_many, summary
    from maxik.vectors import read_vectors, solve_problems

    profile = parse_profile(arguments.profile)
    reports = {}
    for path in arguments.vectors:
        file = read_vectors(path)
        problems = solve_problems(file)
        if not problems:
            print(f"{path}: no solves, {file.item}")
            continue
        with ProgressBar("solving") as progress:
            found = summary(spill_many(profile, problems, processes=os.cpu_count() or 1, progress=progress))
        reports[path] = found
        print(
            f"{path}: {found['stable']} of {found['problems']} stable, {found['changed_by_one_spill']} changed by one spill, "
            f"{found['changed_by_all_together']} by all together"
        )
        for entry in found["sites"]:
            print(f"  {entry['problems']:5d}  {entry['site']}")
    if arguments.report:
        write_whole(arguments.report, (json.dumps(reports, indent=1) + "\n").encode())
    return 0


def _frozen(engine: Engine) -> int:
    """Print how an engine meets the frozen hashes; return how many it misses."""
    from maxik.verify.frozen import check_frozen

    results = check_frozen(engine)
    for result in results:
        if not result.agrees:
            print(f"frozen {result.corpus} {result.kind} ({result.environment}): other bits")
    wrong = sum(not result.agrees for result in results)
    print(f"frozen hashes: {len(results) - wrong} agree, {wrong} differ")
    return wrong


def _oracle(arguments: argparse.Namespace) -> int:
    from maxik.oracle.build import TARGETS, build
    from maxik.oracle.engine import open_oracle
    from maxik.profile import PROFILES

    level = f"-O{arguments.level}"
    if arguments.action == "run":
        from maxik.verify import render, verify_files

        if len(arguments.what) < 2:  # noqa: PLR2004 - a target and a file
            message = "maxik oracle run takes a target and vector files"
            raise UsageError(message)
        engine = open_oracle(arguments.what[0], PROFILES["candidate-1"], optimisation=level)
        report = verify_files(arguments.what[1:], engine)
        engine.close()
        print(render(report))
        return 0 if report.failed == 0 else 1
    worst = 0
    for target in arguments.what or TARGETS:
        try:
            if arguments.action == "build":
                print(f"{target}: {build(target, optimisation=f'-O{arguments.level}').command[-1]}")
                continue
            engine = open_oracle(target, PROFILES["candidate-1"], optimisation=level)
            told = engine.describe()
            engine.close()
            print(
                f"{target}: {told['implementation']}, {told['registers']} registers, control word {told['control_word']}, "
                f"{told['runtime']}, sources {told['source']}"
            )
        except MaxikError as error:
            print(f"{target}: {error}")
            worst = 1 if arguments.what else worst
    return worst


if __name__ == "__main__":
    sys.exit(main())
