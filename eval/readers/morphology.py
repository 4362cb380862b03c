"""Roots of words, so that "bought" matches "did she buy", and lists of light words."""

from __future__ import annotations

from functools import lru_cache

from memsys.text.terms import STOPWORDS, cjk_terms, is_cjk, stem, words

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
# Words of questions, and words so general that sharing them is no evidence.
LIGHT = frozenset(
    """include includes including another kind type sort name names thing things way ways one ones
    recently currently mention mentioned say said says tell told describe described get got
    gets also ever really just like new many much first last yes hey hi wow thanks thank
    according various specific certain would could might may likely happen happened""".split()
)

# Small talk: greeting, praise and enthusiasm, and verbs so general that they answer no question.
FILLERS = frozenset(
    """fri friday monday saturday sunday thursday tuesday wednesday cute called named able
    absolutely actually agree always amazing anyway awesome bet bit blast brilliant btw cause
    check chat congrats congratulations cool course crazy definitely especially excellent
    excited exciting fab fantastic forward fun glad go going gonna good gotta great guess guy
    guys happy hear heard here's hope hoping huge incredible inspiring it'll it'd kinda know
    kudos let's lol look looking looks lot lots love loved lovely luck nice oh ok okay pic
    photo photography picture pretty proud pumped right seem seems share shared sharing she'd
    sorry stoked stuff sure super talk thankful there's they'd think thought today tomorrow
    tonight totally truly wait want wanna welcome well what's woah wonderful woohoo wow yay
    yeah yep yesterday yup y'all you'd""".split()
)
# The most common content words of dialogue, which are seldom the answer.
COMMON = frozenset(
    """add added ago already around bad become began believe best better big bring bringing
    brought came change come coming day days decide decided easy else end enjoy enjoyed even
    eventually ever every everyone everything excite experience far feel feeling feels felt
    find finding finish finished follow found full getting give giving gives gave glad gone
    got guess happening hard having help helped helping helps hold hours idea important
    interesting interested keep keeping kept last late lately learn learned learning leave
    left let life little live long made make makes making matter mean means meant meet met
    moment moments month months morning moved need needed needs next night old part past
    perfect plan planning plus put reach remember remind reminds rest saw say see seeing seen
    set show showed side special spend spent start started starting stay still stop take takes
    taken taking tell telling tough tried try trying turn understand use used using wanted
    watch week weekend weeks went wish work worked working world worth year years""".split()
)


@lru_cache(maxsize=65_536)
def root(word: str) -> str:
    """Return the stem of the base form of a lowercase English word."""
    word = word.removesuffix("'s")
    return stem(_BASE.get(word, word))


@lru_cache(maxsize=65_536)
def roots(text: str) -> frozenset[str]:
    """Return the distinct content roots of a text: base-form stems, or bigrams of Chinese runs."""
    found: set[str] = set()
    for word in words(text):
        if is_cjk(word):
            found.update(cjk_terms(word))
        elif word not in STOPWORDS:
            found.add(root(word))
    return frozenset(found)


def is_light(word: str) -> bool:
    """Return whether a lowercase word has no content."""
    return word in STOPWORDS or word in LIGHT or (len(word) == 1 and not word.isdigit())
