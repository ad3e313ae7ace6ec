"""From a typed line to a call: words, kinds of arguments, completion and help, all from the signatures of commands.

Start with command.py, then interpreter.py.
"""
