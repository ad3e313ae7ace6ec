"""`python -m cli`: the command gradbg."""

import sys

from .main import main

sys.exit(main())
