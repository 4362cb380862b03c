"""Merge runs over different conversations into one."""
