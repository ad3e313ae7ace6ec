"""Where a script gives models of Keras data, rates and penalties, and what is written anew there.

Start with given.py.
"""
