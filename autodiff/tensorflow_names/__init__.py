"""Binds the name `tensorflow` and the paths below it to the library, for scripts and libraries that import it.

`standing_in` is the context in which `import tensorflow` gives autodiff. Start with alias.py.
"""
