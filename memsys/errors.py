"""The one error that means: the input is wrong, the program is not."""


class InputError(Exception):
    """Bad input or configuration. The message names file, place and remedy; the exit code is 2."""
