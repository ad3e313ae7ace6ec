"""Where the numbers came from that nan was made of: sources.py goes back one op, chain.py all the way.

Start with chain.py.
"""
