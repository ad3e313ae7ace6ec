"""A run under the debugger: what it also fetches, where it stops, how it goes step by step and back in time.

Start with run_once.py.
"""
