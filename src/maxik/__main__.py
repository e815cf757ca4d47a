"""`python -m maxik` is the command line."""

import sys

from maxik.cli import main

sys.exit(main())
