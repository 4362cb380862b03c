"""The systems of the leaderboard: published answers with facts about their source, and runs; their
scores and cards.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from eval.cards.card.make import card_of
from eval.cards.card.schema import Origin, Strict, save_card
from eval.cards.scores import ByQuestion, Scores, of_protocols, of_records, under_keys
from eval.datasets.types import Dataset
from eval.imports.rescore.imports import read_import, write_import
from eval.imports.rescore.recompute import check_files
from eval.records.answer_key_views import ORIGINAL, key_name
from eval.records.manifest import load_manifest
from eval.records.run import Run
from eval.summary.closing import IMPORTED, system_name
from memsys.core.errors import InputError, problems
from memsys.core.places import MANIFEST, RUNS, SHIPPED, find_run
from memsys.core.yaml_text import load_yaml

FOLDER = SHIPPED / "results" / "leaderboard"
FACTS = FOLDER / "systems.yaml"
NO_FACTS = "Source, reader, judge and licence: systems.yaml has no entry of this system."
CARDS = "cards"
Kind = Literal["memory", "retrieval", "full context", "written to be wrong", "not stated"]

DATASET = "locomo"
_ENDINGS = (".jsonl", ".json", ".csv")  # each gzipped or not
STRATEGIES = (
    *("full_context", "vector_only", "graph_score", "graph_expand", "hybrid_gate"),
    *("no_memory", "oracle", "bm25", "hybrid_rank", "graph_walk", "fusion"),
    "late_interaction_fusion",
)


class SystemFacts(Strict):
    """One file of answers; None for what is not known, and `unknown` says so in sentences.

    `sha256`: of the file that was scored. `judge_runs`: verdicts for each answer, of which the file
    has the majority.
    """

    what: str
    kind: Kind
    repository: str | None
    commit: str | None
    licence: str | None
    reader: str | None
    judge: str | None
    judge_runs: int | None = None
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    unknown: list[str]


class Facts(Strict):
    """Facts by system; `unknown` is unknown of every one."""

    unknown: list[str]
    systems: Mapping[str, SystemFacts]

    def of(self, name: str, sha256: str) -> SystemFacts:
        """Return the facts about the file of `name`, which has this hash.

        A system without an entry has facts without any content. Raises InputError where the entry
        is about another file.
        """
        found = self.systems.get(name)
        if found is None:
            nothing = dict.fromkeys(("repository", "commit", "licence", "reader", "judge"))
            return SystemFacts(
                what=name, kind="not stated", sha256=sha256, unknown=[NO_FACTS], **nothing
            )
        if found.sha256 != sha256:
            raise InputError(
                f"{name}: the file has sha256 {sha256[:12]}..., and {FACTS.name} describes "
                f"{found.sha256[:12]}...; rename the file, or correct the entry"
            )
        return found


def load_facts(path: Path = FACTS) -> Facts:
    """Load and validate the file. Raises InputError naming file and field."""
    with problems(path, "; correct it"):
        return Facts.model_validate(load_yaml(path))


def published(answers: Path, dataset: Dataset, facts: Facts, runs: Path) -> dict[str, SystemFacts]:
    """Import each file in the folder `answers` into a run folder in `runs`, named as its system;
    return what is known of the systems.

    Raises InputError if there is none, or one cannot be imported.
    """
    paths = sorted(answers.iterdir()) if answers.is_dir() else []
    paths = [path for path in paths if path.name.removesuffix(".gz").endswith(_ENDINGS)]
    if not paths:
        kinds = ", ".join(_ENDINGS)
        raise InputError(f"{answers}: no file of answers ({kinds}); name a folder with --answers")
    found: dict[str, SystemFacts] = {}
    for path in paths:
        name = system_name(None, path)
        if name in found:
            raise InputError(f"{path}: another file has the name {name} as well; rename one")
        source = read_import(path, None, name, dataset)
        found[name] = facts.of(name, source.file.source.sha256)
        write_import(source, runs / name, {"dataset": dataset.name, "name": name})
    return found


def strategies_of(names: Sequence[str]) -> dict[str, Path]:
    """Return the run folders of our strategies: those named, else the newest complete ones under
    results/runs by `command`.

    Raises InputError for two runs of one strategy, or answers of another system.
    """
    if not names:
        return _newest()
    found: dict[str, Path] = {}
    for folder in map(find_run, names):
        manifest = load_manifest(folder)
        if manifest.get("kind") == IMPORTED:
            raise InputError(f"{folder}: has answers of another system; put them in --answers")
        if other := found.get(manifest["strategy"]):
            raise InputError(f"{folder}: {other} is of {manifest['strategy']} as well; name one")
        found[manifest["strategy"]] = folder
    return found


def command(strategy: str) -> str:
    """Return the command of a run of `strategy` with default settings."""
    return f"python -m eval.run dataset={DATASET} strategy={strategy}"


def _newest() -> dict[str, Path]:
    latest: dict[str, tuple[str, Path]] = {}
    for path in sorted(RUNS.glob(f"*/{MANIFEST}")) if RUNS.is_dir() else ():
        try:
            manifest = load_manifest(path.parent)
        except InputError:
            continue  # of an earlier version, or torn
        name = manifest["strategy"]
        default = {*manifest["command"].split()} == {*command(name).split()}
        if manifest["status"] == "complete" and default:
            latest[name] = max(latest.get(name, ("", path)), (manifest["started"], path.parent))
    return {name: latest[name][1] for name in STRATEGIES if name in latest}


def scores_of(runs: Iterable[tuple[str, Run]], datasets: Mapping[str, Dataset]) -> Scores:
    """Return the scores of runs, by the names of their systems, under all protocols and answer
    keys. The runs are read one after the other, and none is needed again.

    `datasets`: the data set of the runs by answer key, the original one first. Raises InputError
    for a run on other data, or scored under another key than the original one.
    """
    first, systems = datasets[ORIGINAL], dict[str, ByQuestion]()
    for name, run in runs:
        check_files(first, run.manifest, run.folder)
        if (key := key_name(run.manifest)) != ORIGINAL:
            raise InputError(
                f"{run.folder}: scored under the {key} answer key; first: python -m eval rescore "
                f"{run.folder} --key {ORIGINAL}"
            )
        views = under_keys(run.records.values(), datasets)
        systems[name] = {
            column: scores
            for part in (of_protocols, of_records)
            for key, records in views.items()
            for column, scores in part(records, key).items()
        }
    return Scores.of(systems, first.questions)


def write_cards(
    systems: Mapping[str, SystemFacts],
    imports: Path,
    runs: Mapping[str, Path],
    facts: Facts,
    out: Path,
) -> None:
    """Write a card of each published system, whose run folder is in `imports`, and of each of the
    `runs` of strategies into the folder `cards` in `out`, by name.
    """
    cards = {}
    for name, known in systems.items():
        models = {"reader": known.reader, "judge": known.judge}
        cards[name] = card_of(
            imports / name,
            origin=Origin(repository=known.repository, commit=known.commit, licence=known.licence),
            unknown=[*known.unknown, *facts.unknown],
            models={role: model for role, model in models.items() if model is not None},
        )
    cards |= {name: card_of(folder) for name, folder in runs.items()}
    for name, card in cards.items():  # all are made of the same state of the code
        save_card(card, out / CARDS / f"{name}.json")
