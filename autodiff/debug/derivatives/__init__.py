"""Gradients and Hessians that the debugger builds beside the graph of the user.

Start with derivatives.py; gradients_debugger.py is the GradientsDebugger of scripts.
"""
