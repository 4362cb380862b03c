"""An extension of griffe, which reads the source for the page of the Python interface."""

from typing import Any

from griffe import Attribute, Docstring, Extension, Module


class Comments(Extension):
    """Describes a field by the comment above or behind it, and a module not at all: the page says
    what its names are for.
    """

    def on_attribute_instance(self, *, attr: Attribute, **_: Any) -> None:
        """Make the comment of a field its docstring, unless it has one."""
        if attr.docstring or not attr.lineno or not attr.endlineno:
            return
        lines = attr.lines_collection[attr.filepath]
        comment = [lines[attr.endlineno - 1].partition("  # ")[2]]
        above = attr.lineno - 2  # lines count from 1
        while lines[above].lstrip().startswith("# "):
            comment.insert(0, lines[above].strip(" #"))
            above -= 1
        if text := " ".join(comment).strip().rstrip("."):
            attr.docstring = Docstring(f"{text[0].upper()}{text[1:]}.", parent=attr)

    def on_module_members(self, *, mod: Module, **_: Any) -> None:
        """Drop the docstring of a module."""
        mod.docstring = None
