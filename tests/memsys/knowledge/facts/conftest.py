from tests.memsys.llm.conftest import make, no_key

__all__ = ["make", "no_key"]
