"""Own transcripts as a data set: exports of assistants in the LoCoMo layout, questions by rule."""
