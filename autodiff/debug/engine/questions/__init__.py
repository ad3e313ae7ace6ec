"""Questions to a session that stands somewhere: values, gradients, Hessians, why, check, doctor, diff, lists, places;
and what changes it: edits, recordings. assembly puts them together.

Start with evaluate.py and explain.py.
"""
