"""Auditing judges: what they pass and reject that they should not, and what that does to J."""
