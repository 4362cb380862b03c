"""The graph over memories by rules, without a model: what each memory mentions, and how strongly.

The mentions are the one definition of such a graph. `build_graph` puts them into networkx,
memsys/graph/csr.py into compressed sparse rows. Words and phrases are weighed by the association
of two words and by their concentration in sessions.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Annotated, Final, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from memsys.core.chinese_dates import dates_of
from memsys.core.declared import Count, Range, Share, ShareAbove0, Weight, check_fields
from memsys.core.types import UNDATED, Memory
from memsys.graph.entities import EntityKind, NumberedKeys, entities_in, names_of
from memsys.graph.store import ENTITY, MEMORY, EdgeKind, MemoryGraph, NetworkXStore

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]


def associations(together: Counts, first: Counts, second: Counts, n: int) -> Floats:
    """Return the log-likelihood ratio G^2 (Dunning, 1993) of the two words of each phrase.

    Of n memories `together` have the phrase, `first` and `second` each of its words. G^2 = 2 sum O
    ln(O / E) over the 2 x 2 table; it is 0 where the words are adjacent no more often than by
    chance. Above 10.83, p < .001.
    """
    expected = np.stack([first, n - first])[:, None] * np.stack([second, n - second]) / n
    observed = np.array(
        [[together, first - together], [second - together, n - first - second + together]]
    )
    observed = np.maximum(observed, 0)  # a phrase may occur more often than a word beside it counts
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(observed > 0, observed * np.log(observed / expected), 0.0)
    ratio: Floats = 2 * parts.sum(axis=(0, 1))
    return np.where(together > expected[0, 0], ratio, 0.0)


def concentrations(entities: Counts, sessions: Counts, size: int) -> Floats:
    """Return the residual inverse document frequency of each entity, in bits, shape (size,).

    It is log2(sessions expected / sessions), with sessions as documents (Church and Gale, 1995):
    an entity of `mentions` spread over S sessions by chance would be in S (1 - exp(-mentions / S))
    of them. It is above 0 for what a few sessions are about, and about 0 for everyday words. One
    mention of `entities` (numbers below `size`) is in the session of the same place in `sessions`.
    It is 0 for entities without a mention, and for all of them in a single session.
    """
    count = int(sessions.max(initial=0)) + 1
    mentions = np.bincount(entities, minlength=size)
    pairs = np.unique(entities * count + sessions)
    observed = np.bincount(pairs // count, minlength=size)
    expected = count * -np.expm1(-mentions / count)
    bits = np.log2(np.maximum(expected, 1e-12) / np.maximum(observed, 1))
    return np.where((mentions > 0) & (count > 1), bits, 0.0)


Ints = NDArray[np.int32]
_BEYOND = np.iinfo(np.int64).max  # above the number of any key
_WEIGHTS: Final = ("name", "phrase", "keyword", "speaker", "date", "adjacent")  # by kind
_KIND_OF_TITLE: EntityKind = "phrase"


@dataclass(frozen=True, slots=True)
class GraphSettings:
    """Settings of the rules that link memories.

    `max_entities`: number of entities per memory, heaviest first. `max_share`: an entity in more
    than this share of the memories is too common to link and is dropped. Weights of the kinds of
    nodes, 0 (none of them) to 1: `keyword_weight` of a single common word, `name_weight` of a name
    or quoted phrase, `phrase_weight` of two adjacent words, `speaker_weight` of the speaker,
    `date_weight` of a day or month that is named, `adjacent_weight` of the node that a memory
    shares with the next one of its session. `min_association`: least log-likelihood ratio of the
    two words of a phrase. `min_concentration`: least residual inverse
    document frequency, in bits, of a keyword; null: any. `store`: networkx, or csr for large stores
    (memsys/graph/csr.py).
    """

    max_entities: Count
    max_share: ShareAbove0
    keyword_weight: Share
    name_weight: Share
    store: Literal["networkx", "csr"] = "networkx"
    phrase_weight: Share = 1.0
    speaker_weight: Share = 0.0
    date_weight: Share = 0.0
    adjacent_weight: Share = 0.0
    min_association: Weight = 0.0
    min_concentration: Annotated[float, Range(-1, 64)] | None = None

    def __post_init__(self) -> None:
        """Raise InputError on a value outside its range."""
        check_fields(self, "graph")

    def weight(self, kind: str) -> float:
        """Return the weight of a kind of nodes."""
        return float(getattr(self, f"{kind}_weight"))


class Mentions(NamedTuple):
    """The nodes that n memories mention. Those of memory i are the `keys` of the
    `columns[starts[i]:starts[i + 1]]`, with the `weights` at the same places: its title, its
    entities, heaviest first, then speaker, dates and adjacent memories.
    """

    keys: list[str]
    starts: NDArray[np.int64]
    columns: Ints
    weights: NDArray[np.float64]


def build_graph(memories: Sequence[Memory], settings: GraphSettings) -> MemoryGraph:
    """Return the graph that links memories by their mentions.

    The node of a memory without a title is that of its first mention. The weight of a RELATED_TO
    edge is the Jaccard index of the memories that mention its two nodes.
    """
    keys, starts, columns, weights = mentions_of(memories, settings)
    places = [slice(*ends) for ends in pairwise(starts.tolist())]
    column_list = columns.tolist()
    mentions, related_to = get_args(EdgeKind)
    used = Counter(column_list)
    together = Counter(
        pair for part in places for pair in combinations(sorted(column_list[part]), 2)
    )
    store = NetworkXStore()
    store.add(
        (MEMORY + memory.id, ENTITY + keys[column], mentions, weight)
        for memory, part in zip(memories, places, strict=True)
        for column, weight in zip(column_list[part], weights[part].tolist(), strict=True)
    )
    store.add(
        (ENTITY + keys[i], ENTITY + keys[j], related_to, n / (used[i] + used[j] - n))
        for (i, j), n in together.items()
    )
    start_nodes = {
        memory.id: ENTITY + keys[column_list[part.start]]
        for memory, part in zip(memories, places, strict=True)
        if part.start < part.stop
    }
    return MemoryGraph(store, start_nodes)


def rarity(frequency: int, n: int) -> float:
    """Return ln(n / frequency) / ln(n), 0 to 1: the inverse document frequency, scaled, of an
    entity in `frequency` of n memories. It is 1 in a store of one memory.
    """
    return math.log(n / frequency) / math.log(n) if n > 1 else 1.0


def mentions_of(memories: Sequence[Memory], settings: GraphSettings) -> Mentions:
    """Return what each memory mentions: its title, an entity with the title's stems, of the weight
    1; its heaviest entities; and its speaker, dates and adjacent memories, if they have a weight.
    The weight of a mention is that of its kind times the `rarity` of the node.
    """
    keys, n = NumberedKeys(memory.content for memory in memories), len(memories)
    entries = _without_weak_words(_entries(memories, keys, settings), memories, settings)
    distinct, frequency = np.unique(entries.numbers, return_counts=True)
    is_node, is_title = np.zeros((2, len(distinct)), dtype=bool)
    # What is no entity: speakers, dates.
    is_node[np.searchsorted(distinct, entries.numbers[~entries.is_entity])] = True
    links = is_node | (frequency <= max(settings.max_share * n, 2))
    links &= (frequency > 1) & (frequency < n)
    is_title[np.searchsorted(distinct, entries.numbers[entries.is_title])] = True
    used = links | is_title  # few are: drop others early
    distinct, frequency = np.append(distinct[used], _BEYOND), frequency[used]
    places, links = np.searchsorted(distinct, entries.numbers), np.append(links[used], False)
    by_kind = np.array([settings.weight(kind) for kind in _WEIGHTS])
    linking = (distinct[places] == entries.numbers) & links[places] & (by_kind[entries.kinds] > 0)
    linking |= entries.is_title
    entries, places = entries.only(linking), places[linking]
    steps, step_of = np.unique(frequency, return_inverse=True)
    rarities = np.array([rarity(int(step), n) for step in steps])[step_of]
    weights = np.where(entries.is_title, 1.0, by_kind[entries.kinds]) * rarities[places]
    group = np.where(entries.is_title, 0, np.where(entries.is_entity, 1, 2))
    order = np.lexsort((-weights, group, entries.rows))  # stable: ties in order of appearance
    rank = np.arange(len(order)) - starts_of(entries.rows, n)[entries.rows]  # within its memory
    titled = np.bincount(entries.rows[entries.is_title], minlength=n)
    most = settings.max_entities + titled[entries.rows]
    selected = order[(rank < most) | (group[order] == 2)]
    named = np.bincount(places[selected], minlength=len(frequency)) > 0
    columns = (np.cumsum(named, dtype=np.int32) - 1)[places[selected]]
    texts = keys.texts(distinct[:-1][named].tolist())
    return Mentions(texts, starts_of(entries.rows[selected], n), columns, weights[selected])


def starts_of(rows: Ints, n: int) -> NDArray[np.int64]:
    """Return where each of n rows starts among entries sorted by row, shape (n + 1,)."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])


class _Entries(NamedTuple):
    """What all memories mention, in order: of each entry the row of its memory, its key and kind (a
    position in `_WEIGHTS`), and whether it is the title of its memory.
    """

    rows: Ints
    numbers: NDArray[np.int64]
    kinds: NDArray[np.int8]
    is_title: NDArray[np.bool_]

    @property
    def is_entity(self) -> NDArray[np.bool_]:
        """Whether each entry is a title or an entity of the text."""
        return self.kinds < len(get_args(EntityKind))

    def only(self, mask: NDArray[np.bool_]) -> _Entries:
        """Return the entries that are True in `mask`."""
        return _Entries(self.rows[mask], self.numbers[mask], self.kinds[mask], self.is_title[mask])


def _entries(memories: Sequence[Memory], keys: NumberedKeys, settings: GraphSettings) -> _Entries:
    speakers = frozenset(memory.speaker for memory in memories)
    ignored = frozenset(keys.number(name) for name in names_of(speakers))
    numbers, kinds, titles, sizes = array("q"), array("b"), array("q"), array("q")
    code = {kind: number for number, kind in enumerate(_WEIGHTS)}
    before: Memory | None = None
    for memory in memories:
        mentioned: dict[int, str] = dict(entities_in(memory.content, ignored, keys))
        title = keys.quoted(memory.title)
        if title is not None:
            mentioned[title] = _KIND_OF_TITLE
        for kind, key in _nodes(memory, before, settings):
            mentioned[keys.number(key)] = kind
        before = memory
        titles.extend([-1 if title is None else title] * len(mentioned))
        numbers.extend(mentioned)
        kinds.extend(map(code.__getitem__, mentioned.values()))
        sizes.append(len(mentioned))
    by_number = np.frombuffer(numbers, dtype=np.int64)
    return _Entries(
        np.repeat(np.arange(len(memories), dtype=np.int32), np.frombuffer(sizes, dtype=np.int64)),
        by_number,
        np.frombuffer(kinds, dtype=np.int8),
        by_number == np.frombuffer(titles, dtype=np.int64),
    )


def _nodes(
    memory: Memory, before: Memory | None, settings: GraphSettings
) -> Iterator[tuple[str, str]]:
    """Yield kind and key of the nodes of a memory that are not in its words, as far as they have a
    weight. `before`: the memory before it. A colon parts these keys from those of entities.
    """
    if settings.speaker_weight and memory.speaker:
        yield "speaker", f"speaker:{memory.speaker}"
    if settings.date_weight and memory.time != UNDATED:
        for mention in dates_of(memory.content, memory.time.date()):
            first, precision = mention.period.first.isoformat(), mention.period.precision
            if precision == "day":
                yield "date", f"date:{first}"
            if precision in ("day", "week", "month"):
                yield "date", f"date:{first[:7]}"
    if settings.adjacent_weight and memory.time != UNDATED:
        if before is not None and before.session_time == memory.session_time:
            yield "adjacent", f"after:{before.id}"
        yield "adjacent", f"after:{memory.id}"


def _without_weak_words(
    entries: _Entries, memories: Sequence[Memory], settings: GraphSettings
) -> _Entries:
    """Return the entries without phrases of words that are hardly associated and without keywords
    that are hardly concentrated.
    """
    weak = np.zeros(len(entries.rows), dtype=bool)
    if settings.min_association > 0:
        distinct, frequency = np.unique(entries.numbers, return_counts=True)
        phrases = (entries.kinds == _WEIGHTS.index("phrase")) & ~entries.is_title
        numbers = entries.numbers[phrases]
        together, first, second = (
            frequency[np.searchsorted(distinct, part)]
            for part in (numbers, *NumberedKeys.words_of(numbers))
        )
        strength = associations(together, first, second, len(memories))
        weak[phrases] = strength < settings.min_association
    if settings.min_concentration is not None:
        distinct, places = np.unique(entries.numbers, return_inverse=True)
        _, sessions = np.unique([memory.session_time for memory in memories], return_inverse=True)
        bits = concentrations(places, sessions[entries.rows], len(distinct))
        keywords = (entries.kinds == _WEIGHTS.index("keyword")) & ~entries.is_title
        weak |= keywords & (bits[places] < settings.min_concentration)
    return entries.only(~weak)
