"""Errors that a script has raised: their causes, and the lines of the script anew.

A rule takes where an error was raised, and gives a remark, or None where its line is not surely found. Start with
remarks.py.
"""
