"""The table of published systems and of our strategies, with ranks and their uncertainty."""
