"""What a debugging session does, in parts. A part has its own attributes, which no other file writes, and is made of
the parts below it: what is under the debugger (model, overrides, log), which runs are remembered and the value of any
tensor in them (state), what is arranged for the next run (watches, feeds, training); then runs/, then questions/.

Start with state.py, then runs/hooks.py.
"""
