"""`python -m eval report RUN [RUN ...]`: a report of runs, as an HTML page and as markdown."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from eval.cli import add_runs, code_of
from eval.cli import parser as command_parser
from eval.pages.report.build import build_report
from eval.pages.report.runs import load, missing_texts
from eval.records.jsonl import write_text, writing
from memsys.core.errors import InputError
from memsys.core.places import find_run


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the report and return the exit code: 2 for invalid input, 130 after Ctrl-C."""
    parser = command_parser(
        "report",
        description="Write a report of runs as one self-contained HTML page and as markdown. "
        "docs/analysis.md explains the sections.",
    )
    add_runs(parser, compared=True)
    add = parser.add_argument
    reference = "the run with which all others are compared (default: the first)"
    add("--reference", metavar="RUN", help=reference)
    page = (
        "the page (default: report.html in the run's folder; for several runs, comparison.html in "
        "the first one's)"
    )
    add("--out", type=Path, metavar="FILE.html", help=page)
    beside = "the markdown file (default: beside the page)"
    add("--markdown", type=Path, metavar="FILE.md", help=beside)
    return code_of(lambda: _report(parser.parse_args(arguments)))


def _report(options: argparse.Namespace) -> None:
    names = list(options.runs)
    if options.reference is not None:  # is the first
        folder = find_run(options.reference).resolve()
        others = [name for name in names if find_run(name).resolve() != folder]
        names = [options.reference, *others]
    runs = load(names)
    name = "report.html" if len(runs) == 1 else "comparison.html"
    out: Path = options.out or runs[0].folder / name
    markdown: Path = options.markdown or out.with_suffix(".md")
    if out.resolve() == markdown.resolve():
        raise InputError(
            f"--out {out}: the page and the markdown need different names; end it in .html"
        )
    for sentence in missing_texts(runs):
        print(f"note: {sentence}")
    report = build_report(runs)
    for path, text in ((out, report.html()), (markdown, report.markdown())):
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    print(f"written: {out} ({out.stat().st_size:,} bytes), {markdown}")
    print("Both contain text of the data set: check its licence before you publish them.")
