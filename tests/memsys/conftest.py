from pathlib import Path

import pytest

from memsys.embed.base import Embedder
from memsys.embed.cache import CachedEmbedder
from memsys.llm.meter import Meter
from memsys.strategies.store import Parts
from tests.memsys.build import BagOfWords, MakeParts, make_parts


@pytest.fixture(scope="session")
def bag_of_words(tmp_path_factory: pytest.TempPathFactory) -> CachedEmbedder:
    """One cache for all tests that do not look at it: a file a test would cost seconds."""
    return CachedEmbedder(BagOfWords(), tmp_path_factory.mktemp("cache"), Meter())


@pytest.fixture
def parts(tmp_path: Path, bag_of_words: CachedEmbedder) -> MakeParts:
    """Make parts; an embedder of the test's own gets a cache of its own."""

    def make(embedder: Embedder | None = None, **other: object) -> Parts:
        cached = CachedEmbedder(embedder, tmp_path, Meter()) if embedder else bag_of_words
        return make_parts(cached, **other)

    return make
