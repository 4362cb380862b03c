"""`python -m eval.run`: build what the configuration names, run it, show what came out."""

from __future__ import annotations

import gc
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from eval import exits, naming
from eval import folder as folders
from eval.manifest import describe
from eval.runner import Runner
from eval.show import show_end, show_start, show_stop
from memsys.embed.cache import CachedEmbedder
from memsys.errors import InputError
from memsys.meter import Meter
from memsys.store import Parts

naming.register()
_begun: list[str] = []  # ids of the runs that this process has begun


@hydra.main(version_base="1.3", config_path="../conf", config_name="config")
def _main(config: DictConfig) -> None:
    job = HydraConfig.get()
    folder = Path(job.runtime.output_dir)
    with exits.one_line(folder, sweep=job.mode == RunMode.MULTIRUN):
        _run(config, {k: v for k, v in job.runtime.choices.items() if "hydra" not in k}, folder)


def _run(config: DictConfig, choices: dict[str, str], folder: Path) -> None:
    began = time.perf_counter()
    dataset = instantiate(config.dataset).load()
    meter = Meter()
    parts = Parts(
        memory=instantiate(config.memory),
        embedder=CachedEmbedder(instantiate(config.embedder), config.cache, meter),
        context=instantiate(config.context),
        index=instantiate(config.index),
        graph=instantiate(config.graph),
    )
    make = instantiate(config.strategy, _convert_="all")
    given: dict[str, Any] = {"parts": parts}
    if getattr(make.func, "sees_evidence", False):
        given["evidence"] = {question.id: question.evidence for question in dataset.questions}
    reader = instantiate(config.reader)
    for conversation in dataset.conversations:
        parts.memory.check(conversation)
    try:
        make(**given)  # a wrong number shows before anything is written
    except TypeError as error:
        raise InputError(f"strategy={choices['strategy']}: {error}") from error

    resolved = cast(dict[str, Any], OmegaConf.to_container(config, resolve=True))
    manifest = describe(folder.name, resolved, choices, dataset, HydraConfig.get().overrides.task)
    with folders.locked(folder):
        manifest = folders.begin(folder, manifest, resume=config.resume is not None)
        _begun.append(folder.name)
        show_start(manifest, dataset)
        gc.freeze()  # what is loaded stays: to search it for garbage again and again is a tenth
        runner = Runner(dataset, lambda: make(**given), reader, meter, folder)
        try:
            records = runner.run()
        except (KeyboardInterrupt, InputError):
            folders.interrupt(folder, manifest)
            show_stop(folder, manifest)
            raise
        manifest["warnings"] += runner.warnings
        show_end(folder, folders.close(folder, manifest, records, asdict(runner.clock), began))


if __name__ == "__main__":
    exits.leave(_main, _begun)
