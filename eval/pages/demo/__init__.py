"""The pages of memsys browse on shipped runs."""
