"""Models of Keras as files keep them: how their layers go together, and their values in HDF5.

Start with hdf5.py.
"""
