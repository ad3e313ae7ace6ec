"""What an error of torch's is about: the line to change, and how, by what was recorded before it.

Start with post_mortem.py.
"""
