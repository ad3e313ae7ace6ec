"""A run under the debugger: what it also fetches (run_view, finite_sentinels), the four calls that an engine makes
around it (hooks), what was seen in it (samples, evidence), whether it stops (stop_conditions), how it is made whole
(run_once) or op by op (stepper, inside_stops), and the way back (time_travel). assembly puts them together.

Start with hooks.py and stop_conditions.py.
"""
