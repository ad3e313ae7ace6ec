"""Guards: what no list of cases would find. Each has a fixed share of chance in the suite.

`scripts/check --long MINUTES` gives them more: conftest.py says how much. faulty.py is a system that fails at a chosen
call.
"""
