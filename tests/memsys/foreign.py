"""Settings of a part that call what they must not, for every place that reads configurations."""

from pathlib import Path
from typing import Any

TURNS = {"_target_": "memsys.knowledge.memory.turns.Turns", "name": "turns"}


def attacks(canary: Path, source: Path) -> list[dict[str, Any]]:
    """Settings of a part, each of which creates the file `canary` if it is built."""
    there, here = str(canary), str(source)
    system = {"_target_": "os.system", "command": f"touch {there}"}
    return [
        system,
        {"_target_": "builtins.open", "file": there, "mode": "w"},
        {"_target_": "shutil.copy", "src": here, "dst": there},
        {"_target_": "sqlite3.connect", "database": there},
        {"_target_": "subprocess.run", "args": ["touch", there]},
        {"_target_": "pandas.read_pickle", "filepath_or_buffer": here},
        {"_target_": "hydra.utils.instantiate", "config": system},
        {"_target_": "hydra.utils.instantiate", "_recursive_": False, "config": system},
        {"_target_": "pathlib.Path.touch", "self": {"_target_": "pathlib.Path", "_args_": [there]}},
        {"_target_": "builtins.exec", "_args_": [f"open({there!r}, 'w')"]},
        {"_target_": "builtins.map", "_args_": [{"_target_": "os.system", "_partial_": True}, []]},
        {"_target_": "builtins.list", "_args_": [[system]]},
        {"_target_": "memsys.service.memory.Memory", "folder": there},
        {"_target_": "memsys.stores.sqlite.open_store", "path": there, "tables": [], "field": ""},
        {"_target_": "memsys.stores.faiss_vectors.FaissVectors.__init__", "path": there},
        {"_target_": "eval.records.jsonl.write_json", "path": there, "value": 1},
        {**TURNS, "name": system},
        {**TURNS, "name": [[{"a": [system]}]]},
        {**TURNS, "lead": {"_target_": "${memory._target_}", "x": system}},
        {**TURNS, "_args_": [system]},
        {"_target_": ["os.system"], "command": f"touch {there}"},
        {"_target_": {"_target_": "os.system", "command": f"touch {there}"}},
        {"_target_": "${oc.decode:'os.system'}", "command": f"touch {there}"},
        {**TURNS, "name": "${oc.create:'{_target_: os.system, command: touch}'}"},
        {**TURNS, "name": "${oc.env:HOME}"},
        {**TURNS, "name": "${${a}:HOME}"},
        {**TURNS, "name": "\\${oc.env:HOME}"},
        {**TURNS, "name": "${.first}${.second}", "first": "$", "second": "{oc.env:HOME}"},
    ]
