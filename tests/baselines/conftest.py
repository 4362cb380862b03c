from tests.memsys.conftest import bag_of_words, parts

__all__ = ["bag_of_words", "parts"]
