"""A ranking that fuses several signals of each memory by fitted weights."""
