"""The action that other projects use to gate a strategy."""

from __future__ import annotations

import yaml

from tests.eval.commands import PROJECT


def test_the_action_needs_pins_and_runs_the_gate_without_pasting_them_into_a_script():
    action = yaml.safe_load((PROJECT / "action.yml").read_text(encoding="utf-8"))
    needed = [name for name, given in action["inputs"].items() if given.get("required")]
    assert needed == ["pins"]
    last = action["runs"]["steps"][-1]
    assert last["run"].startswith("python -m eval.regress $PINS")
    assert last["env"] == {"PINS": "${{ inputs.pins }}", "MEMSYS_CACHE": ".cache"}
    assert not any("${{" in step.get("run", "") for step in action["runs"]["steps"])
