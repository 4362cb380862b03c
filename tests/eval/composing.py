"""Configurations composed quickly, for the many small runs of one process."""

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hydra._internal import config_loader_impl
from hydra._internal.config_loader_impl import ConfigLoaderImpl
from hydra._internal.config_repository import CachingConfigRepository, ConfigRepository
from hydra._internal.defaults_list import DefaultsList, create_defaults_list
from hydra._internal.hydra import Hydra
from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigSource

from tests.eval.commands import PROJECT

LOAD, MERGE = ConfigRepository.load_config, ConfigLoaderImpl._compose_config_from_defaults_list


def _fixed(source: ConfigSource | None) -> bool:
    """Whether no test changes the files of `source`."""
    return source is not None and (
        source.scheme() != "file" or str(source.path).startswith(str(PROJECT))
    )


class _Files:
    """The files of a configuration, read once, and what they make together, by the chosen options.

    A small run takes most of its time to compose its configuration.
    """

    def __init__(self) -> None:
        self._read: dict[tuple[str, str], Any] = {}
        self._chosen: dict[str, DefaultsList] = {}
        self._merged: dict[str, Any] = {}
        self._merges = False  # which changes what was read

    def load(self, repository: ConfigRepository, config_path: str) -> Any:
        """Return the content of a file."""
        source = repository._find_object_source(config_path, ObjectType.CONFIG)
        if not _fixed(source):
            return LOAD(repository, config_path)
        key = (source.full_path(), config_path)
        if key not in self._read:
            self._read[key] = LOAD(repository, config_path)
        return copy.deepcopy(self._read[key]) if self._merges else self._read[key]

    def choose(self, repo: CachingConfigRepository, overrides: list[Any], **how: Any) -> Any:
        """Return the files that `overrides` choose, and the rest of the `overrides`."""
        single = [one for one in overrides if not one.is_sweep_override()]
        settings = [one for one in single if not repo.group_exists(one.key_or_group)]
        choices = [one.input_line for one in single if one not in settings]
        sources = repo.get_sources()
        key = repr(([source.full_path() for source in sources], choices, how))
        if key not in self._chosen:
            found = create_defaults_list(repo=repo, overrides_list=overrides, **how)
            if not all(map(_fixed, sources)) or found.config_overrides != settings:
                return found
            self._chosen[key] = found
        found = copy.copy(self._chosen[key])
        found.overrides = copy.copy(found.overrides)
        found.config_overrides = found.overrides.config_overrides = settings
        return found

    def merge(self, loader: ConfigLoaderImpl, defaults: Any, repo: CachingConfigRepository) -> Any:
        """Return the configuration of the files `defaults`, without values of the command."""
        sources = repo.get_sources()
        key = repr(([source.full_path() for source in sources], defaults))
        if key in self._merged:
            return copy.deepcopy(self._merged[key])
        self._merges = True
        try:
            found = MERGE(loader, defaults, CachingConfigRepository(repo.delegate))
        finally:
            self._merges = False
        if all(map(_fixed, sources)):
            self._merged[key] = copy.deepcopy(found)
        return found


@contextmanager
def quick_composition() -> Iterator[None]:
    """Read each file of a configuration once, and do not compose it a first time to find
    hydra.mode, as Hydra does: no file sets that.
    """
    files = _Files()

    def choose(*, repo: CachingConfigRepository, overrides_list: list[Any], **how: Any) -> Any:
        return files.choose(repo, overrides_list, **how)

    def load(self: ConfigRepository, config_path: str) -> Any:
        return files.load(self, config_path)

    def merge(self: ConfigLoaderImpl, defaults: Any, repo: CachingConfigRepository) -> Any:
        return files.merge(self, defaults, repo)

    def share(self: CachingConfigRepository, delegate: Any) -> None:
        self.delegate, self.cache = delegate, {}

    def initialize_sources(self: CachingConfigRepository, path: Any) -> None:
        self.delegate = copy.deepcopy(self.delegate)  # which Hydra copies for every composition
        self.delegate.initialize_sources(path)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(config_loader_impl, "create_defaults_list", choose)
        patch.setattr(ConfigRepository, "load_config", load)
        patch.setattr(CachingConfigRepository, "__init__", share)
        patch.setattr(CachingConfigRepository, "initialize_sources", initialize_sources)
        patch.setattr(ConfigLoaderImpl, "_compose_config_from_defaults_list", merge)
        patch.setattr(Hydra, "get_mode", lambda *_, **__: None)
        yield
