"""The layers of tf.keras by what they do.

Start with plain.py, which has what all of them are.
"""
