"""Files of answers from other systems: read them and match them to a data set's questions."""
