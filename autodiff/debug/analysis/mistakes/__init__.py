"""Mistakes that a training program makes without raising: one function a finding, all asked of one `Case`.

Start with case.py, what is known of a program and its steps; heads.py tells predictions from labels.
"""
