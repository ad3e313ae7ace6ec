"""Functions of tensors by the names, arguments and defaults that Keras' backend has for them.

Start with arrays.py, which has numbers and shapes; networks.py has what layers are made of.
"""
