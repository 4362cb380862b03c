"""`python -m eval.run`: build what the configuration names, run it, show what came out."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from eval import folder as folders
from eval import naming
from eval.manifest import describe
from eval.runner import Runner
from eval.show import failure_of, show_end, show_start, show_stop
from memsys.embed.cache import CachedEmbedder
from memsys.errors import InputError
from memsys.meter import Meter
from memsys.store import Parts

naming.register()


@hydra.main(version_base="1.3", config_path="../conf", config_name="config")
def _main(config: DictConfig) -> None:
    job = HydraConfig.get()
    folder = Path(job.runtime.output_dir)
    try:
        _run(config, dict(job.runtime.choices), folder)
    except Exception as error:
        message = failure_of(error)
        if message is None:
            raise
        folders.discard_if_empty(folder)
        if job.mode == RunMode.MULTIRUN:
            raise  # the other runs of the sweep go on; the exit code tells
        print(f"error: {message}", file=sys.stderr)
        sys.exit(2)


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
    extra: dict[str, Any] = {"parts": parts}
    if make.func.sees_evidence:
        extra["evidence"] = {question.id: question.evidence for question in dataset.questions}
    reader = instantiate(config.reader)
    for conversation in dataset.conversations:
        parts.memory.check(conversation)
    make(**extra)  # a wrong number shows before anything is written

    resolved = OmegaConf.to_container(config, resolve=True)
    assert isinstance(resolved, dict)
    chosen = {key: value for key, value in choices.items() if not key.startswith("hydra")}
    manifest = describe(folder.name, {str(k): v for k, v in resolved.items()}, chosen, dataset)
    with folders.locked(folder):
        manifest = folders.begin(folder, manifest, resume=config.resume is not None)
        show_start(manifest, dataset)
        runner = Runner(dataset, lambda: make(**extra), reader, meter, folder)
        try:
            records = runner.run()
        except (KeyboardInterrupt, InputError):
            folders.interrupt(folder, manifest)
            show_stop(folder, manifest)
            raise
        manifest["warnings"] += runner.warnings
        seconds = runner.clock.seconds(time.perf_counter() - began)
        show_end(folder, folders.close(folder, manifest, records, seconds))


def main() -> None:
    """Run; exit code 2 on bad input, 130 after Ctrl-C."""
    _main()


if __name__ == "__main__":
    main()
