"""Binds the name `tensorflow` and the paths below it to the library, for scripts and libraries that import it.

alias.py has `standing_in`, the context in which `import tensorflow` gives autodiff.
"""
