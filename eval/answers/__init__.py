"""Answers that were made elsewhere, read, matched to a data set's questions and recorded."""
