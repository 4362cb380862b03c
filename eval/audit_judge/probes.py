"""Probes: answers with a known right verdict, made by rule or, for LoCoMo, published."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from eval.answers.files import read_answers
from eval.answers.match import match
from eval.datasets.files import shared_folder
from eval.datasets.types import ADVERSARIAL, Dataset, Question
from eval.metrics.abstention import abstains
from eval.metrics.normalise import normalise, terms
from eval.metrics.strict_f1 import alternatives
from memsys.core.dates import MONTHS
from memsys.core.errors import InputError
from memsys.core.terms import STOPWORDS, is_cjk
from memsys.core.yaml_text import load_table

# Kind -> whether a judge has to pass it, and a description.
KINDS: Mapping[str, tuple[bool, str]] = {
    "gold": (True, "the gold answer itself"),
    "gold_reformatted": (True, "the gold with dates, numbers or lists in another form"),
    "gold_long": (True, "the gold in a long answer"),
    "wrong_specific": (False, "another name, date or thing than the gold"),
    "wrong_vague": (False, "on the topic, without the information"),
    "wrong_long": (False, "a specific wrong answer in a long one"),
    "empty": (False, "nothing"),
    "refusal": (False, "the answer is not known"),
}
RIGHT = tuple(kind for kind, (right, _) in KINDS.items() if right)


@dataclass(frozen=True, slots=True)
class Probe:
    """An answer to be judged; `question_id`, `conversation` and `type` as in Question."""

    kind: str
    question_id: str
    conversation: str
    type: str
    question: str
    gold: str
    answer: str

    @property
    def right(self) -> bool:
        """Whether a judge has to pass the answer."""
        return KINDS[self.kind][0]


Answers = Mapping[str, Mapping[str, str]]  # kind -> question id -> answer
Make = Callable[[Question], str | None]  # the answer of a probe; None: there is none


def make_probes(
    questions: Sequence[Question],
    written: Answers,
    limit: int | None,
    seed: int,
    *,
    by_rule: bool = True,
) -> list[Probe]:
    """Return probes of every kind for the questions with a gold, at most `limit` of each kind.

    `written`: published wrong answers, used in place of those by rule for the kinds it contains;
    without `by_rule`, they are the only probes. All kinds share one seeded order of questions, so
    that a kind and its long form are of the same questions.
    """
    asked = [q for q in questions if q.gold is not None and q.category != ADVERSARIAL]
    random.Random(seed).shuffle(asked)  # noqa: S311 - sampling, not security
    makers = {kind: _written(answers) for kind, answers in written.items()}
    if by_rule:
        makers = _makers(makers, WrongAnswers(asked, seed).specific)
    return [probe for kind, make in makers.items() for probe in _first(kind, asked, make, limit)]


def _makers(written: Mapping[str, Make], specific: Make) -> dict[str, Make]:
    """Return what makes the answer of each kind; `specific`: by rule."""
    specific = written.get("wrong_specific", specific)
    return {
        "gold": lambda q: q.gold,
        "gold_reformatted": lambda q: reformatted(q.text, q.gold or ""),
        "gold_long": lambda q: buried(q.gold or ""),
        "wrong_specific": specific,
        "wrong_vague": written.get("wrong_vague", vague),
        "wrong_long": lambda q: buried(answer) if (answer := specific(q)) is not None else None,
        "empty": lambda q: None if abstains(q.gold or "") else "",
        "refusal": _refusal,
    }


def _first(
    kind: str, questions: Iterable[Question], make: Make, limit: int | None
) -> Iterator[Probe]:
    probes = (
        Probe(kind, q.id, q.conversation, q.type, q.text, q.gold or "", answer)
        for q in questions
        if (answer := make(q)) is not None
    )
    return islice(probes, limit)


def _written(answers: Mapping[str, str]) -> Make:
    return lambda question: answers.get(question.id)


def _refusal(question: Question) -> str | None:
    """Return a refusal in the question's language; None if the gold refuses as well."""
    if abstains(question.gold or ""):
        return None
    wordings = REFUSALS["zh" if is_cjk(question.text) else "en"]
    return wordings[len(question.text) % len(wordings)]


_WORDS = "two three four five six seven eight nine ten eleven twelve".split()  # "one" is a pronoun
_TEXTS = load_table(
    Path(__file__).with_name("wording.yaml"), MONTH="|".join(MONTHS), WORD="|".join(_WORDS)
)
REFUSALS: Mapping[str, Sequence[str]] = _TEXTS["refusals"]
_LONG: Mapping[str, Sequence[str]] = _TEXTS["long"]
_VAGUE = {
    language: [(re.compile(asked), phrase) for asked, phrase in rows]
    for language, rows in _TEXTS["vague"].items()
}
_TOPIC_WORDS = 4
_ASKING = STOPWORDS | set("s t many much long often date day month year time".split())
_TO_FIGURE = {word: str(n) for n, word in enumerate(_WORDS, 2)}
_TO_WORD = {figure: word for word, figure in _TO_FIGURE.items()}
_ITEM_WORDS = 4
_PATTERNS: Mapping[str, str] = _TEXTS["patterns"]
_TOPIC, _DAY_FIRST, _MONTH_FIRST, _CHINESE, _DATED, _WORD, _FIGURE, _ORDERED, _CLAUSE = (
    re.compile(_PATTERNS[name])
    for name in "topic day_first month_first chinese dated word figure ordered clause".split()
)


def buried(answer: str) -> str:
    """Return a long answer with `answer`, verbatim, in the middle, in its language."""
    before, after = _LONG["zh" if is_cjk(answer) else "en"]
    stop = "" if answer.endswith((".", "!", "?", "。")) or is_cjk(answer) else "."
    return before + answer.rstrip("。" if is_cjk(answer) else "") + stop + after


def vague(question: Question) -> str | None:
    """Return an answer on the topic without information, or None.

    It combines words of the question with a stock phrase for the requested kind of answer. None if
    it would contain all of the gold's terms.
    """
    text = question.text
    if is_cjk(text):
        stock = next(phrase for asked, phrase in _VAGUE["zh"] if asked.search(text))
        answer = f"{stock}，他们聊天的时候说起过。"
    else:  # in "What did the man who left sell?", the first question word decides
        matches = ((asked.search(text.lower()), phrase) for asked, phrase in _VAGUE["en"])
        phrases = [(match.start(), phrase) for match, phrase in matches if match]
        stock = min(phrases, key=lambda pair: pair[0])[1]
        words = (word for word in _TOPIC.findall(text) if word.lower() not in _ASKING)
        topic = [*islice(words, _TOPIC_WORDS)]
        about = f" It has to do with {', '.join(topic)}." if topic else ""
        answer = f"{stock[0].upper()}{stock[1:]}.{about}"
    return None if set(terms(question.gold or "")) <= set(terms(answer)) else answer


def reformatted(question: str, gold: str) -> str | None:
    """Return `gold` with its dates, numbers or list order changed; None if none can be.

    The bag of normalised terms is unchanged, so a correct judge passes the result.
    """
    changed = _dates(gold)
    if changed == gold and not _DATED.search(gold):
        changed = _numbers(gold)
    if changed == gold and not _ORDERED.search(question):
        changed = _list(gold)
    same = Counter(terms(changed)) == Counter(terms(gold))
    return changed if same and changed != gold else None


def _dates(text: str) -> str:
    """Rewrite dates: 7 May 2023 -> May 7th, 2023 -> 2023-05-07; 2024年3月8日 -> 2024-03-08."""
    text, count = _DAY_FIRST.subn(lambda m: f"{m[2]} {_ordinal(int(m[1]))}, {m[3]}", text)
    if not count:
        text = _MONTH_FIRST.sub(
            lambda m: f"{m[3]}-{MONTHS.index(m[1]) + 1:02}-{int(m[2]):02}", text
        )
    return _CHINESE.sub(lambda m: f"{m[1]}-{int(m[2]):02}-{int(m[3]):02}", text)


def _ordinal(day: int) -> str:
    ending = "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def _numbers(text: str) -> str:
    changed = _WORD.sub(lambda m: _TO_FIGURE[m[1] or m[2]], text)
    if changed != text:
        return changed
    return _FIGURE.sub(lambda m: _TO_WORD.get(m[1] or m[2], m[0]), text)


def _list(text: str) -> str:
    """Move the last of 3 or more items to the front: a, b, and c -> c, a, and b; also a、b、c.

    Without a comma before "and", only lists of names are changed: "tea, bread and butter" may be
    two items. The items have to be of similar length: in "a bowl of nuts, figs, and dates" the bowl
    contains all three.
    """
    if "、" in text and not re.search(r"[，。；,;和]", text):
        items = text.split("、")
        return "、".join([items[-1], *items[:-1]]) if len(items) > 2 else text
    body = text.rstrip(".")
    parts = re.split(r",? and |, ", body)
    lengths = [len(part.split()) for part in parts]
    if len(parts) < 3 or body.count(" and ") != 1 or _ORDERED.search(text) or _CLAUSE.search(text):
        return text
    if min(lengths) < 1 or max(lengths) > _ITEM_WORDS or max(lengths) - min(lengths) > 1:
        return text
    serial = ", and " in body
    if not serial and not all(part[0].isupper() for part in parts):
        return text
    *others, last = [parts[-1], *parts[:-1]]
    return ", ".join(others) + (", and " if serial else " and ") + last + text[len(body) :]


_DATE = re.compile(r"\bmonth\d|\bday\d|\b(?:19|20)\d\d\b")
_NUMBER = re.compile(r"\d")
_NEAREST = 8  # candidates of similar length from which one is drawn
# By kind of probe, the files of wrong answers to LoCoMo that dial481/locomo-audit published.
FILES = {"wrong_specific": "ap_wrong_v1.jsonl.gz", "wrong_vague": "ap_wrong_v2.jsonl.gz"}


class WrongAnswers:
    """Draws for each question the gold of another question of its type, language and form."""

    def __init__(self, questions: Sequence[Question], seed: int) -> None:
        """`questions`: with a gold answer; their golds are the candidates."""
        self._seed = seed
        self._pools: dict[tuple[str, bool, str], list[str]] = {}
        for q in questions:
            pool = self._pools.setdefault(_group(q), [])
            if q.gold is not None and q.gold not in pool:
                pool.append(q.gold)

    def specific(self, question: Question) -> str | None:
        """Return a gold with another meaning than the question's, of similar length, or None.

        Of the two golds and their alternatives, neither contains all terms of the other.
        """
        gold = question.gold or ""
        others = [other for other in self._pools.get(_group(question), []) if _differs(other, gold)]
        if not others:
            return None
        others.sort(key=lambda text: (abs(len(text) - len(gold)), text))
        draw = random.Random(f"{self._seed} {question.id}")  # noqa: S311 - sampling, not security
        return draw.choice(others[:_NEAREST])


def _group(question: Question) -> tuple[str, bool, str]:
    """Return the type, whether Chinese, and the form: a date is no credible answer to "who"."""
    plain = normalise(question.gold or "")
    form = "date" if _DATE.search(plain) else "number" if _NUMBER.search(plain) else "words"
    return question.type, is_cjk(question.text), form


def _differs(own: str, other: str) -> bool:
    ours, theirs = ([set(terms(text)) for text in alternatives(gold)] for gold in (own, other))
    return all(not (a <= b or b <= a) for a in ours for b in theirs) and bool(ours) and bool(theirs)


def published_files(folder: str | None) -> dict[str, Path]:
    """Return the existing files of FILES by kind, in `folder` or $MEMSYS_SHARED/locomo/answers.

    Raises InputError if `folder` is not None and lacks one of them.
    """
    place = shared_folder() / "locomo" / "answers" if folder is None else Path(folder).expanduser()
    paths = {kind: place / name for kind, name in FILES.items() if (place / name).is_file()}
    if folder is not None and len(paths) < len(FILES):
        missing = next(name for kind, name in FILES.items() if kind not in paths)
        raise InputError(f"probes={folder}: has no {missing}; name a folder with both, or null")
    return paths


def published_answers(paths: Mapping[str, Path], dataset: Dataset) -> dict[str, dict[str, str]]:
    """Return kind -> question id -> answer for the questions of `dataset` that the files answer.

    Rows are matched as in memsys rescore: by position, checked against the question's text. A kind
    without a matching row is left out, as its file is of other conversations.
    """
    matched = {
        kind: {
            id_: row.answer
            for id_, row in match(read_answers(path, dataset).rows, dataset).answers.items()
        }
        for kind, path in paths.items()
    }
    return {kind: answers for kind, answers in matched.items() if answers}
