"""Colours and markers: every strategy has the same ones in all charts, on pages and in pictures."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memsys.core.yaml_text import load_table

_TABLE = load_table(Path(__file__).with_suffix(".yaml"))
COLOURS: dict[str, tuple[str, str]] = {
    name: (light, dark) for name, (light, dark) in _TABLE["colours"].items()
}
MARKERS = "osD^vPX*<>"  # of matplotlib; eval.rendering.svg draws the same ones
GREY = "#6b737c"
_SIZES = {"*": 10.5, "P": 8.5, "X": 8.0, "^": 7.5, "v": 7.5, "<": 7.5, ">": 7.5}
_LIGHT = [light for light, _ in COLOURS.values()]
_NAMES = list(COLOURS)
_SHIPPED = {
    name: (_NAMES.index(colour), MARKERS.index(marker))
    for name, (colour, marker) in _TABLE["strategies"].items()
}
# All other pairs, with a new colour and a new marker at each step.
_PAIRS = [
    (i % len(_NAMES), (i + i // len(_NAMES)) % len(MARKERS))
    for i in range(len(_NAMES) * len(MARKERS))
]
_FREE = [pair for pair in dict.fromkeys(_PAIRS) if pair not in _SHIPPED.values()]
_STARTED = re.compile(r"^\d{4}-\d\d-\d\d_[\d-]+_")  # before the strategy in the name of a folder


@dataclass(frozen=True, slots=True)
class Look:
    """The colour and the marker of the series `name`, as indices of COLOURS and MARKERS."""

    name: str
    colour: int
    marker: int

    @property
    def hex(self) -> str:
        """The colour on a light ground."""
        return _LIGHT[self.colour]

    @property
    def symbol(self) -> str:
        """The marker's name in matplotlib."""
        return MARKERS[self.marker]

    @property
    def size(self) -> float:
        """The size at which the marker looks as large as the others."""
        return _SIZES.get(self.symbol, 6.0)


def looks(labels: Sequence[str], strategies: Sequence[str] | None = None) -> list[Look]:
    """Return a look for each label of a run: that of its strategy, in every chart the same.

    `strategies`: of the runs; by default as in the labels ("graph_expand k=5"). Strategies that the
    project does not ship have looks by their names. A further run of a strategy has its colour with
    another marker, or another colour if all runs are of one strategy. No two looks are equal, as
    long as there are enough of them.
    """
    names = strategies
    if names is None:  # as in a label, in the name of a folder or among settings
        named = [re.search(r"(?:^|\s)strategy=(\S+)", label) for label in labels]
        folders = [_STARTED.sub("", label.rpartition("/")[2]).partition(" ")[0] for label in labels]
        names = [match[1] if match else other for match, other in zip(named, folders, strict=True)]
    own, taken = dict[str, tuple[int, int]](), set[tuple[int, int]]()
    for name in sorted({*names}):
        pair = _SHIPPED.get(name)
        if pair is None:
            start = int(hashlib.sha256(name.encode()).hexdigest(), 16)
            order = [_FREE[(start + step) % len(_FREE)] for step in range(len(_FREE))]
            pair = next((option for option in order if option not in taken), order[0])
            taken.add(pair)
        own[name] = pair
    used, seen = set(own.values()), set[str]()
    result = []
    for label, strategy in zip(labels, names, strict=True):
        pair = own[strategy]
        if strategy in seen:
            pair = _new_pair(pair, used, alone=len(own) == 1)
            used.add(pair)
        seen.add(strategy)
        result.append(Look(label, *pair))
    return result


def _new_pair(pair: tuple[int, int], used: set[tuple[int, int]], *, alone: bool) -> tuple[int, int]:
    colour, marker = pair
    others = [(colour, (marker + step) % len(MARKERS)) for step in range(1, len(MARKERS))]
    if alone:
        others = [((colour + c) % len(_NAMES), (marker + m) % len(MARKERS)) for c, m in _PAIRS[1:]]
    return next((other for other in [*others, *_PAIRS] if other not in used), pair)


def css() -> str:
    """Return the style of series: `s0`, `s1`, ... colour lines, and marks of class `m`."""
    grounds = (
        "".join(f"--s{i}:{pair[ground]};" for i, pair in enumerate(COLOURS.values()))
        for ground in (0, 1)
    )
    light, dark = grounds
    rules = "".join(
        f"svg .s{i}{{stroke:var(--s{i})}}svg .m.s{i}{{fill:var(--s{i});stroke:var(--ground)}}"
        for i in range(len(COLOURS))
    )
    return f":root{{{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}{rules}"
