"""The workloads of scripts/bench.py: each for whatever is spelled like TensorFlow 1, and by hand in NumPy.

graph(tf) gives (fetches, feeds, setup or None); naive() and tuned(), where there are such, give a function
to be timed. What they return is compared: numbers, or arrays. All run on Python 3.7, as TensorFlow 1.15 does.
"""
