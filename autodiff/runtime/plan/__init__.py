"""A plan as data: the steps of one run, decided once for its fetches and feeds, and the interpreter that takes them.

Start with plan.py, then passes.py and interpreter.py.
"""
