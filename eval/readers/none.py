"""No reader: a run that only retrieves."""

from dataclasses import dataclass

from memsys.core.declared import Name


@dataclass(frozen=True, slots=True)
class NoReader:
    """Stands for the absence of a reader: records then have no answer, and no score of one."""

    name: Name
