"""Ops that draw random numbers, from a stream of their own or from a seed given as an input.

Start with stateful.py.
"""
