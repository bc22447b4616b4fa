"""``python -m redac``."""

import sys

from redac.cli import main

sys.exit(main())
