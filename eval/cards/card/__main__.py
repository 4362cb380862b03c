"""`python -m eval card RUN`: the score card of a run, or the verification of cards."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from eval.answers.layout import load_layout
from eval.cards.card.make import card_of
from eval.cards.card.schema import Origin, load_card, save_card
from eval.cards.card.verify import Verification, verify
from eval.cli import FAILED, code_of, parser
from eval.datasets.reload import NAMES
from eval.imports.account import counted
from memsys.core.errors import InputError, problems
from memsys.core.files import shown
from memsys.core.places import find_run

_LINE = 1_000  # characters of a difference
_ORIGIN = {
    "repository": "repository of the answers, as OWNER/NAME or a URL",
    "commit": "commit of that repository",
    "path": "path of the answers within the repository",
    "licence": "licence of the answers",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Make or verify cards; return the exit code: 1 where a card differs, 2 for wrong input, 130
    after Ctrl-C.
    """
    options = _parser().parse_args(arguments)
    return code_of(lambda: _verify(options) if options.verify else _make(options))


def _parser() -> argparse.ArgumentParser:
    command = parser(
        "card",
        "Write the score card of a run: its scores with intervals, and the hashes of the files "
        "that they follow from. Or verify cards: compute every number again from the answers. "
        "docs/cards.md explains both.",
    )
    add = command.add_argument
    add("run", nargs="?", metavar="RUN", help="run folder, id under results/runs, or last")
    add("--verify", nargs="+", type=Path, metavar="CARD", help="verify these cards")
    answers = (
        "run folder, its records.jsonl or a file that memsys rescore reads; one, or one a card"
    )
    add("--answers", nargs="+", type=Path, metavar="FILE", help=answers)
    rankings = "run folder, its rankings.jsonl or a file that memsys retrieval reads; as --answers"
    add("--rankings", nargs="+", type=Path, metavar="FILE", help=rankings)
    layout = "how to read FILE, as of memsys rescore (default: as the card says, or find out)"
    add("--layout", metavar="NAME|YAML", help=layout)
    add("--dataset", metavar=NAMES, help="where the data set is (default: as the run or card says)")
    add(
        "--key-file", metavar="PATH", help="where the errors of the answer key are, if in your file"
    )
    complete = "with --verify: numbers that cannot be recomputed are differences"
    add("--complete", action="store_true", help=complete)
    making = command.add_argument_group("of a card to write").add_argument
    making("--out", type=Path, metavar="CARD", help="file to write (default: RUN/card.json)")
    for name, text in _ORIGIN.items():
        making(f"--origin-{name}", metavar=name.upper(), help=text)
    making("--answers-url", metavar="URL", help="where others get the file of answers")
    model = "reader, judge, embedder or llm of imported answers"
    making("--model", action="append", default=[], metavar="ROLE=NAME", help=model)
    unknown = "what is not known of the system; a sentence, and the option may be repeated"
    making("--unknown", action="append", default=[], metavar="TEXT", help=unknown)
    return command


def _make(options: argparse.Namespace) -> None:
    if options.run is None:
        raise InputError("name a RUN, or cards by --verify")
    if options.complete or options.layout is not None:
        raise InputError("--complete and --layout: are for --verify")
    fields = {name: getattr(options, f"origin_{name}") for name in _ORIGIN}
    fields["url"] = options.answers_url
    with problems("--origin-... or --answers-url"):
        origin = Origin(**fields) if any(fields.values()) else None
    folder = find_run(options.run)
    card = card_of(
        folder,
        answers=_each(options.answers, 1, "--answers")[0],
        rankings=_each(options.rankings, 1, "--rankings")[0],
        origin=origin,
        unknown=options.unknown,
        models=dict(_pair(text) for text in options.model),
        dataset=options.dataset,
        key_file=options.key_file,
    )
    out = options.out or folder / "card.json"
    save_card(card, out)
    print(f"{out}: {len(card.scores)} scores of {card.system}, {out.stat().st_size:,} bytes")


def _verify(options: argparse.Namespace) -> int:
    if options.run is not None or options.out is not None or options.unknown or options.model:
        raise InputError("--verify: leave out RUN, --out and what describes a card to write")
    cards = [(path, load_card(path)) for path in options.verify]
    answers = _each(options.answers, len(cards), "--answers")
    rankings = _each(options.rankings, len(cards), "--rankings")
    layout = None if options.layout is None else load_layout(options.layout)
    failed = False
    for (path, card), of_card, ranked in zip(cards, answers, rankings, strict=True):
        verification = verify(
            card,
            answers=of_card,
            rankings=ranked,
            layout=layout,
            dataset=options.dataset,
            key_file=options.key_file,
        )
        failed |= bool(verification.refused(complete=options.complete))
        print("\n".join(_lines(path, verification, complete=options.complete)))
    return FAILED if failed else 0


def _lines(path: Path, verification: Verification, *, complete: bool) -> list[str]:
    numbers = f"{verification.equal:,} of {verification.compared:,} numbers equal"
    refused = verification.refused(complete=complete)
    lines = [f"{shown(path)}: {'differs' if refused else 'equal'}: {numbers}"]
    lines += [f"  {shown(line, _LINE)}" for line in refused]
    for reason, count in verification.unverified.items():
        lines.append(f"  {count:,} numbers cannot be recomputed: {reason}")
    notes = verification.notes if complete else [*verification.assumed, *verification.notes]
    return [*lines, *(f"  note: {note}" for note in notes)]


def _each(paths: Sequence[Path] | None, cards: int, option: str) -> list[Path | None]:
    """Return a path for each card: the only one for all, or one each."""
    if not paths:
        return [None] * cards
    if len(paths) not in (1, cards):
        raise InputError(
            f"{option}: {len(paths)} for {counted(cards, 'card')}; name one for all, or one each"
        )
    return [*paths] * (cards if len(paths) == 1 else 1)


def _pair(text: str) -> tuple[str, str]:
    role, equals, name = text.partition("=")
    if not equals or not name:
        raise InputError(f"--model {text:.60}: write ROLE=NAME, as reader=gpt-4.1-mini")
    return role, name
