"""Tools of all namespaces: public import paths, renamed arguments, the answer for a missing name.

Nothing here is a name of TensorFlow's, and no op is built. Start with unsupported.py.
"""
