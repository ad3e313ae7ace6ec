"""Variables: the class, scopes and sharing, initializers, assignment, and the base class of layers.

Start with variable.py, then variable_scope.py.
"""
