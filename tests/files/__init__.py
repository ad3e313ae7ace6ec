"""What reads and writes TensorFlow's files. `fixtures` was written by TensorFlow 1.15.5, by `make_fixtures.py`."""
