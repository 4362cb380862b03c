"""The pages of eval.browse on shipped runs."""
