"""The debugger as a library: facts, runs, history, analyses."""
