"""Settings shared by all tests."""

import os

# scikit-learn's checks of array API input are silently skipped unless scipy is told to support it,
# and scipy reads this when it is first imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
