"""From fetches to values: what a session does with a graph.

Start with session.py; plan/ decides which steps a run takes, compiled/ makes a plan that is run often into one
function, cursor.py walks through a plan step by step.
"""
