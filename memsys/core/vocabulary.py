"""The ranks of a vocabulary's tokens, found in the text of its file."""

from array import array
from binascii import a2b_base64, b2a_base64
from bisect import bisect_left
from collections.abc import Iterator

import numpy as np

NEVER = 1 << 30  # rank of what is no token
_REMEMBERED = 1 << 18  # ranks, of tokens and of what is none
_PART = 4  # characters of base64, at each end of a line's, by which it is found


class Ranks(dict[bytes, int]):
    """Maps bytes to the rank of the token that they are, NEVER if they are none.

    A run asks for a small part of the tokens: a dict of all would take a tenth of a second and
    25 MB.
    """

    def __init__(self, lines: bytes) -> None:
        """`lines`: one for each token, in order of rank: the token in base64, a space, its rank."""
        super().__init__()
        self._lines = lines
        octets = np.frombuffer(lines, np.uint8)
        starts = np.concatenate([[0], np.flatnonzero(octets == ord("\n"))[:-1] + 1])
        ends = np.flatnonzero(octets == ord(" "))
        keys = np.zeros(len(starts), np.uint64)
        for place in range(_PART):
            keys = keys << np.uint64(8) | octets[starts + place]
        for place in range(-_PART, 0):
            keys = keys << np.uint64(8) | octets[ends + place]
        order = np.argsort(keys)
        self._keys = array("Q", keys[order].tobytes())
        self._ranks = array("i", order.astype(np.intc).tobytes())
        self._starts = array("i", starts[order].astype(np.intc).tobytes())

    def __missing__(self, token: bytes) -> int:
        """Find the rank of a token that was not asked for before."""
        if len(self) >= _REMEMBERED:
            self.clear()
        self[token] = rank = self._found(b2a_base64(token, newline=False))
        return rank

    def tokens(self) -> Iterator[bytes]:
        """Yield all tokens of the vocabulary."""
        for line in self._lines.splitlines():
            yield a2b_base64(line.partition(b" ")[0])

    def _found(self, text: bytes) -> int:
        """Return the rank of the token whose base64 is `text`."""
        key = int.from_bytes(text[:_PART] + text[-_PART:], "big")
        for place in range(bisect_left(self._keys, key), len(self._keys)):
            if self._keys[place] != key:
                break
            if self._lines.startswith(text + b" ", self._starts[place]):
                return self._ranks[place]
        return NEVER
