"""`python -m eval cache`: export and import the recorded model answers of a run, to replay it."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from eval import cli
from eval.records.bundle import Requests, read_calls, write_bundle
from eval.records.files import CALLS as CALLS_USED
from eval.records.files import USED_CALL, read_lines
from eval.rendering.numbers import dollars
from eval.rendering.terminal import fitted
from memsys.core.errors import InputError
from memsys.core.files import is_there
from memsys.core.places import find_run
from memsys.core.types import Usage
from memsys.llm.pricing import load_pricing
from memsys.llm.recording import CALLS, Recording


def main(arguments: Sequence[str] | None = None) -> int:
    """Export, import or list; return exit code 2 for invalid input, 130 after Ctrl-C."""
    cache = argparse.ArgumentParser(add_help=False)
    cli.add_cache(cache)
    parser = cli.parser(
        "cache", "Recorded answers of models: docs/models.md describes recording and replay."
    )
    commands = parser.add_subparsers(required=True)
    out = commands.add_parser("export", parents=[cache], help="write the answers that a run used")
    cli.add_run(out)
    out.add_argument("--out", type=Path, required=True, metavar="BUNDLE.jsonl.gz")
    out.set_defaults(do=_export)
    into = commands.add_parser(
        "import", parents=[cache], help="record the answers of a bundle, or of another cache folder"
    )
    into.add_argument("source", type=Path, metavar="BUNDLE|FOLDER")
    into.set_defaults(do=_import)
    stats = commands.add_parser("stats", parents=[cache], help="list recorded answers by model")
    cli.add_wide(stats)
    stats.set_defaults(do=_stats)
    options = parser.parse_args(arguments)
    return cli.code_of(lambda: options.do(options))


def _export(options: argparse.Namespace) -> None:
    """Write every answer and failure that the run used, in order of key.

    The lines of its calls.jsonl are {"key": ..., "phase": ..., "question": id or null}. Raises
    InputError if that file is absent, or a line has no key, or if the recording lacks an answer:
    such a bundle could not replay the run.
    """
    folder = find_run(options.run)
    recording = _existing(options.cache)
    path = folder / CALLS_USED
    if not path.is_file():
        raise InputError(
            f"{path}: not there; name the folder of a run that called a model (llm=..., or an "
            "embedder behind an endpoint)"
        )
    keys = list(dict.fromkeys(line["key"] for line in read_lines(path, schema=USED_CALL)))
    answers = recording.find_all(keys)
    if len(answers) < len(keys):
        raise InputError(
            f"{recording.path}: contains {len(answers):,} of the {len(keys):,} answers that "
            f"{folder} used; name the cache folder of that run (--cache)"
        )
    requests = recording.requests([answer.key for answer in answers])
    write_bundle(options.out, answers, requests)
    size = options.out.stat().st_size
    print(f"{options.out}: {len(answers):,} answers, {size:,} bytes")


def _import(options: argparse.Namespace) -> None:
    source = options.source.parent if options.source.name == CALLS else options.source
    requests: Requests
    if is_there(source / CALLS):
        if is_there(options.cache) and options.cache.samefile(source):
            raise InputError(f"{source}: is the cache itself; name another folder, or a bundle")
        other_recording = _existing(source)
        answers = other_recording.all()
        requests = other_recording.requests([answer.key for answer in answers])
    elif source.is_dir():
        raise InputError(f"{source}: has no {CALLS}; name a bundle or the folder of recorded calls")
    else:
        answers, requests = read_calls(source)
    recording = Recording(options.cache)
    new = recording.keep(answers, requests)
    stored = {row.key: row.body for row in recording.find_all([answer.key for answer in answers])}
    other = sum(stored[answer.key] != answer.body for answer in answers)
    print(f"{recording.path}: {new:,} of {len(answers):,} answers are new")
    if other:
        print(
            f"{other:,} requests already had another answer here, which remains: import into an "
            "empty --cache to replay the run exactly"
        )


def _stats(options: argparse.Namespace) -> None:
    recording, pricing = _existing(options.cache), load_pricing()
    header = ["path", "model", "answers", "input tokens", "output tokens", "cost $", "from", "to"]
    rows = []
    for path, model, count, read, written, first, last in recording.totals():
        cost = dollars(pricing.cost_usd(model, Usage(count, read, written)), "unknown")
        rows.append([path, model, f"{count:,}", f"{read:,}", f"{written:,}", cost, first, last])
    print(recording.path)
    print(fitted(header, rows) if rows else "nothing is recorded yet")


def _existing(cache: Path) -> Recording:
    """Open the recording in `cache`; only an import may create one."""
    if not (cache / CALLS).is_file():
        raise InputError(f"{cache / CALLS}: nothing is recorded there; name its folder (--cache)")
    return Recording(cache)
