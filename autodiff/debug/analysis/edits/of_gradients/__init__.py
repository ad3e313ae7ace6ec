"""Where a script has its gradients clipped before they are applied.

Start with clipping.py.
"""
