"""What a debugging session does: its state, the runs under it, and the questions asked of them.

Start with state.py, then runs/ and questions/.
"""
