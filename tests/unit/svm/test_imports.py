"""What importing the estimators costs."""

import subprocess
import sys

PROGRAM = """
import sys
import sklearn.svm
before = set(sys.modules)
import pegasos.svm
print(*sorted(name for name in set(sys.modules) - before if not name.startswith("pegasos")))
"""


def test_no_more_of_other_libraries_is_imported_than_by_the_names_they_replace():
    found = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == ""
