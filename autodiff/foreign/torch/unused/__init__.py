"""What a step computes and nothing takes: the results of statements, and terms that are added when it is too late.

Start with dropped.py.
"""
