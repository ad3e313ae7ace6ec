"""Questions to a session that stands somewhere: values, gradients, why, check, doctor, diff, edits.

Start with evaluate.py and gradients.py.
"""
