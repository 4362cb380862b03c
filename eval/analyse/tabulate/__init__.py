"""Tables of an experiment's runs."""
