"""Words brought to one form so that "bought" answers "did she buy"."""

from __future__ import annotations

from functools import lru_cache

from memsys.index.terms import STOPWORDS, cjk_terms, is_cjk, stem, words

# Irregular English verbs: each line is the base form and its past forms.
_VERBS = """
become became; begin began begun; bring brought; break broke broken; build built; buy bought;
catch caught; choose chose chosen; come came; cost cost; deal dealt; draw drew drawn; drink drank
drunk; drive drove driven; eat ate eaten; fall fell fallen; feel felt; fight fought; find found;
fly flew flown; forget forgot forgotten; get got gotten; give gave given; go went gone; grow grew
grown; hear heard; hide hid hidden; hold held; keep kept; know knew known; lead led; learn learnt;
leave left; lend lent; lose lost; make made; mean meant; meet met; pay paid; ride rode ridden; ring
rang rung; rise rose risen; run ran; say said; see saw seen; seek sought; sell sold; send sent; sew
sewn; shoot shot; show shown; sing sang sung; sit sat; sleep slept; speak spoke spoken; spend
spent; stand stood; steal stole stolen; strike struck; swim swam swum; take took taken; teach
taught; tell told; think thought; throw threw thrown; understand understood; wake woke woken; wear
wore worn; win won; write wrote written; child children; person people; man men; woman women;
foot feet; tooth teeth; mom mother mum mama; dad father; kid children child; photo picture pic;
"""
_BASE = {
    form: entry.split()[0]
    for entry in _VERBS.split(";")
    if entry.split()
    for form in entry.split()[1:]
}
# Words of the asking, and words so light that sharing them is no evidence.
LIGHT = frozenset(
    """kind type sort name names thing things way ways one ones recently currently mention mentioned
    say said says tell told describe described get got gets also ever really just like new many
    much first last yes hey hi wow thanks thank according various specific certain would could
    might may likely happen happened""".split()
)


@lru_cache(maxsize=65_536)
def root(word: str) -> str:
    """Stem of the base form of a lowercase English word."""
    word = word.removesuffix("'s")
    return stem(_BASE.get(word, word))


@lru_cache(maxsize=65_536)
def roots(text: str) -> frozenset[str]:
    """The distinct content roots of a text: base-form stems, or bigrams of Chinese runs."""
    found: set[str] = set()
    for word in words(text):
        if is_cjk(word):
            found.update(cjk_terms(word))
        elif word not in STOPWORDS:
            found.add(root(word))
    return frozenset(found)


def is_light(word: str) -> bool:
    """True for a lowercase word that carries no content of its own."""
    return word in STOPWORDS or word in LIGHT or (len(word) == 1 and not word.isdigit())
