"""The commands about the [CORE] items: core, characterise, discriminate, observable; thin, as cli.py is."""

from __future__ import annotations

import argparse

from maxik.errors import UsageError
from maxik.terminal import ProgressBar, add_command


def add_workbench(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands to the parser."""
    core = add_command(commands, "core", _core, "show the core profile: each item, its candidate, what it rests on")
    core.add_argument("--profile", default="candidate-1", metavar="P", help="profile (default: candidate-1)")
    _report_options(core, "maxik-core/1")

    characterise = add_command(commands, "characterise", _characterise, "try the candidates of items against vector files")
    characterise.add_argument("vectors", nargs="*", metavar="VECTORS", help="vector files (.jsonl)")
    characterise.add_argument("--items", metavar="A,B", help="items to try (default: all that the vectors consult)")
    characterise.add_argument(
        "--environment",
        choices=("x87-53", "sse-32"),
        help="environment (default: the one that the files name, else both are tried)",
    )
    characterise.add_argument("--profile", default="candidate-1", metavar="P", help="where to start (default: candidate-1)")
    characterise.add_argument(
        "--closure",
        action="store_true",
        help="instead, try sign and order conventions on the limb solver itself; takes no vectors",
    )
    _report_options(characterise, "maxik-characterise/1 or maxik-closure/1")

    discriminate = add_command(commands, "discriminate", _discriminate, "find inputs that tell the candidates of an item apart")
    discriminate.add_argument("item", metavar="ITEM", help="item-id, as maxik core shows them")
    discriminate.add_argument("--environment", choices=("x87-53", "sse-32"), default="x87-53", help="default: x87-53")
    discriminate.add_argument("-o", "--output", metavar="OUT.jsonl", help="also write the inputs as a vector file")
    discriminate.add_argument("--script", metavar="OUT.ms", help="also write a MAXScript that asks 3ds Max")
    discriminate.add_argument("--json", action="store_true", help="print JSON, format maxik-discriminate/1, instead of text")

    observable = add_command(commands, "observable", _observable, "tell which last bits of a rotation a NeL file can show")
    observable.add_argument("vectors", nargs="*", metavar="VECTORS", help="vector files (.jsonl) of limb.solve or spline.solve")
    observable.add_argument(
        "--items", metavar="A,B", help="items, or environment, whose candidates to try (default: those that the cases consult)"
    )
    observable.add_argument("--profile", default="candidate-1", metavar="P", help="what to start from (default: candidate-1)")
    observable.add_argument("--json", action="store_true", help="print JSON, format maxik-observable/1, instead of text")


def _report_options(command: argparse.ArgumentParser, json_format: str) -> None:
    command.add_argument("--json", action="store_true", help=f"print JSON, format {json_format}, instead of text")
    command.add_argument("--html", metavar="OUT.html", help="also write a page")


def _core(arguments: argparse.Namespace) -> int:
    from maxik.characterise import ledger_report
    from maxik.profile import parse_profile

    profile = parse_profile(arguments.profile)
    _write_page(arguments.html, ledger_report.to_html(profile))
    print((ledger_report.to_json if arguments.json else ledger_report.render)(profile))
    return 0


def _characterise(arguments: argparse.Namespace) -> int:
    from maxik.characterise import report
    from maxik.characterise.closure import closure
    from maxik.characterise.workbench import Options, characterise
    from maxik.profile import parse_profile

    if arguments.closure == bool(arguments.vectors):
        message = "maxik characterise takes vector files, or --closure without any"
        raise UsageError(message)
    if arguments.closure:
        rows = closure()
        _write_page(arguments.html, report.closure_to_html(rows))
        print((report.closure_to_json if arguments.json else report.render_closure)(rows))
        return 0
    options = Options(
        items=None if arguments.items is None else tuple(arguments.items.split(",")),
        environments=None if arguments.environment is None else (arguments.environment,),
        start=parse_profile(arguments.profile),
    )
    with ProgressBar("characterising") as progress:
        result = characterise(arguments.vectors, options, progress)
    _write_page(arguments.html, report.to_html(result))
    print((report.to_json if arguments.json else report.render)(result))
    return 0


def _write_page(path: str | None, page: str) -> None:
    from maxik.formats.whole_file import write_whole

    if path is not None:
        write_whole(path, page.encode())


def _discriminate(arguments: argparse.Namespace) -> int:
    from maxik.characterise.discriminate import discriminate, write_discrimination
    from maxik.characterise.discriminate_report import render, to_json
    from maxik.characterise.maxscript import render_script
    from maxik.formats.whole_file import write_whole

    found = discriminate(arguments.item, arguments.environment)
    if arguments.output:
        write_discrimination(arguments.output, found)
    if arguments.script:
        write_whole(arguments.script, render_script(found).encode())
    print((to_json if arguments.json else render)(found))
    return 0


def _observable(arguments: argparse.Namespace) -> int:
    from maxik.characterise.observe import observe
    from maxik.characterise.observe_report import render, to_json
    from maxik.profile import parse_profile
    from maxik.vectors import read_vectors

    profile = parse_profile(arguments.profile)
    items = None if arguments.items is None else arguments.items.split(",")
    if items is not None and not arguments.vectors:
        message = "--items says what to try on vector files; name some"
        raise UsageError(message)
    files = [read_vectors(path) for path in arguments.vectors]
    seen = [observe(profile, file, items) for file in files]
    print((to_json if arguments.json else render)(profile, seen))
    return 0
