"""Tools of all namespaces: public import paths, renamed arguments, the answer for a missing name."""
