"""The block model under its former name."""

from eval.rendering.blocks import Section, Table, as_text

__all__ = ["Section", "Table", "as_text"]
