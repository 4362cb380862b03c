"""The error for bad input, as opposed to a fault of the program."""


class InputError(Exception):
    """Bad input or configuration. The message names file, place and remedy; the exit code is 2."""
