import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import pytest

from eval.metrics.lean_import import import_alone
from eval.metrics.stats.interval import critical_value


@pytest.fixture
def library(tmp_path, monkeypatch):
    """A library whose packages say that they were imported, by a module of their names."""
    inner = tmp_path / "slow_library" / "inner"
    inner.mkdir(parents=True)
    for folder in (inner.parent, inner):
        (folder / "__init__.py").write_text("from slow_library import seen\nPART = 7\n")
    (inner.parent / "seen.py").write_text("")
    (inner / "lean.py").write_text("from slow_library.inner.base import BASE\nHERE = BASE + 1\n")
    (inner / "base.py").write_text("BASE = 1\n")
    (inner / "needy.py").write_text("from slow_library.inner import PART\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import_alone.cache_clear()
    yield "slow_library"
    for name in [name for name in sys.modules if name.startswith("slow_library")]:
        del sys.modules[name]


def test_packages_are_neither_run_nor_left_behind(library):
    assert import_alone("slow_library.inner.lean", "HERE", library) == 2
    assert not [name for name in sys.modules if name.startswith("slow_library")]
    assert import_module("slow_library.inner.lean").HERE == 2
    assert "slow_library.seen" in sys.modules


def test_threads_wait_for_each_other(library, tmp_path):
    slow = "from time import sleep\nsleep(0.05)\nBASE = 1\n"
    (tmp_path / "slow_library" / "inner" / "base.py").write_text(slow)
    with ThreadPoolExecutor(8) as pool:
        asked = [
            pool.submit(import_alone, "slow_library.inner.lean", "HERE", library) for _ in range(8)
        ]
        assert [one.result() for one in asked] == [2] * 8


def test_a_module_that_needs_its_package_gets_it(library):
    assert import_alone("slow_library.inner.needy", "PART", library) == 7
    assert "slow_library.seen" in sys.modules
    with pytest.raises(ImportError, match="nowhere"):
        import_alone("slow_library.nowhere", "x", library)


def test_scipy_is_the_same_beside_it():
    alone = critical_value(0.95, 9)
    special = import_module("scipy.special")
    assert alone == special.stdtrit(9, 0.975)
