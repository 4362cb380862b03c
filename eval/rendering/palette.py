"""Colours of matplotlib figures, and of web pages on a light and on a dark ground."""

from __future__ import annotations

# Okabe and Ito (2008), with a grey of sufficient contrast: distinct for all colour vision.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#767676", "#E69F00")
BLUE, VERMILION, GREY = PALETTE[0], PALETTE[1], PALETTE[4]
MARKERS = "osD^vP"  # one per series, so that series differ by more than colour

# Blue, vermilion, green and purple after Okabe and Ito (2008), darker on light and lighter on dark
# so that each has a contrast of at least 4.5 to 1 with the ground. (light, dark) by CSS variable.
COLOURS = {
    **{"ground": ("#fff", "#14171b"), "raised": ("#f5f6f8", "#1e2329")},
    **{"ink": ("#1b1f24", "#e6e9ed"), "soft": ("#57606a", "#a3acb7")},
    **{"edge": ("#d5d9de", "#39414a"), "link": ("#0b5cad", "#7cb8ff")},
    **{"good": ("#00734f", "#3ecf9c"), "bad": ("#b3261e", "#ff8b80")},
    **{"warm": ("#7a5c00", "#e3c04b"), "hit": ("#fff3c4", "#3a3212")},
    "hitedge": ("#c79a00", "#d9ab1c"),
}
_SERIES = (
    *(("#0067a8", "#5fb4f0"), ("#b84700", "#f0915a"), ("#00734f", "#3ecf9c")),
    *(("#9a3b80", "#e08fca"), ("#7a5c00", "#e3c04b"), ("#4a4f57", "#b6bec8")),
)
_PARTS = (("#0067a8", "#5fb4f0"), ("#e0a100", "#d9ab1c"), ("#b7bec6", "#59636e"))  # of bars
SERIES = len(_SERIES)  # a further run starts again with the first colour and mark


def style() -> str:
    """Return CSS: a variable for each colour, and the classes of series (s0 ...) and parts (p0)."""
    colours = COLOURS | {f"s{i}": pair for i, pair in enumerate(_SERIES)}
    colours |= {f"p{i}": pair for i, pair in enumerate(_PARTS)}
    light, dark = (
        "".join(f"--{name}:{pair[ground]};" for name, pair in colours.items()) for ground in (0, 1)
    )
    series = "".join(
        f"svg .s{i}{{stroke:var(--s{i})}}svg .m.s{i}{{fill:var(--s{i});stroke:var(--ground)}}"
        for i in range(SERIES)
    )
    parts = "".join(f"svg .p{i}{{fill:var(--p{i})}}" for i in range(len(_PARTS)))
    root = f":root{{color-scheme:light dark;{light}}}"
    return f"{root}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}{series}{parts}\n"
