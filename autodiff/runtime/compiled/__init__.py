"""How a plan that is run often becomes one generated function, with the bits of the interpreter.

Start with lowering.py (steps as NumPy calls), then buffers.py and codegen.py.
"""
