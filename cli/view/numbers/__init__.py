"""Arrays, Hessians and curves as tables and drawings: how their numbers are written, what is left out, what is shaded.

Start with arrays.py.
"""
