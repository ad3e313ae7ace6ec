"""What every format needs of the disk: files replaced whole, files read within bounds, archives of arrays.

Start with replacing.py.
"""
