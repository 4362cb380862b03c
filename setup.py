"""Put the files that commands read, which are no code, into wheels and source distributions.

In a clone, conf, data and results are at the top, and an editable install leaves them there. A
wheel has copies in memsys/shipped, out of the way of a user's folders of the same names;
memsys.core.places finds either. All else about the project is in pyproject.toml.
"""

from __future__ import annotations

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

# Named one by one: a fetched data set in data/, which may not be redistributed, never gets in.
SHIPPED = (
    "conf/**/*.yaml",
    "data/README.md",
    "data/sources.yaml",
    "data/sample*",
    "data/sample*/**/*",
    "data/associations/*.json",
    "data/bundles/*.jsonl.gz",
    "data/evidence/*.json",
    "data/overlays/*.json",
    "data/subsets/*.json",
    "results/README.md",
    "results/demo*/**/*",
    "results/expected/*",
    "results/leaderboard/*.csv",
    "results/published/*.yaml",
    "results/tables/*",
)


def shipped() -> list[str]:
    """Return the paths of the shipped files, relative to this one, with slashes."""
    here = Path(__file__).parent
    found = {path for pattern in SHIPPED for path in here.glob(pattern) if path.is_file()}
    return sorted(path.relative_to(here).as_posix() for path in found)


class BuildWithShipped(build_py):
    """Copy the shipped files beside the code; an editable install needs no copy."""

    def run(self) -> None:
        """Copy the code, then the files."""
        super().run()
        for file in [] if self.editable_mode else shipped():
            target = Path(self.build_lib, "memsys", "shipped", file)
            self.mkpath(str(target.parent))
            self.copy_file(file, str(target))

    def get_source_files(self) -> list[str]:
        """Return what a source distribution contains."""
        return [*super().get_source_files(), *shipped()]


setup(cmdclass={"build_py": BuildWithShipped})
