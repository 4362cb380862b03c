"""An adapter with a server of its own, here a sleeping child."""

import subprocess
import time
from typing import Any


class Adapter:
    library = "with_child"

    def __init__(self, options: dict[str, Any]) -> None:
        self.child = subprocess.Popen(["sleep", "60"])
        self.version = self.child.pid

    def degraded(self) -> list[str]:
        return []

    def add(self, item: dict[str, Any]) -> int:
        time.sleep(0.5)
        return 1

    def close(self) -> None:
        self.child.kill()
        self.child.wait()
