"""What the prompt knows: the script that runs, the results of commands, files that are trusted.

Start with results.py and shell.py.
"""
