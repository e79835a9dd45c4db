# SPDX-License-Identifier: MIT OR Apache-2.0
"""The examples of docs/python.md: their code runs in the order of the page, and prints what its comments say."""

import contextlib
import io
import os
import re
import tempfile
import unittest


class Page(unittest.TestCase):
    def test_the_examples_of_the_hal(self):
        with open(os.path.join(os.environ["WINDLASS_DOCS"], "python.md"), encoding="utf-8") as file:
            page = file.read()
        section = page[page.index("## Devices and queues") : page.index("### From a checkout")]
        blocks = re.findall(r"```python\n(.*?)```", section, flags=re.S)
        self.assertEqual(len(blocks), 11)
        names, said, before = {}, io.StringIO(), os.getcwd()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.symlink(os.path.join(os.environ["WINDLASS_BUNDLES"], "saxpy.ccob"), os.path.join(folder.name, "saxpy.ccob"))
        os.chdir(folder.name)
        try:
            with contextlib.redirect_stdout(said):
                for block in blocks:
                    exec(compile(block, "docs/python.md", "exec"), names)
        finally:
            os.chdir(before)
        wanted = [found[1] for found in re.finditer(r"^ *print\([^\n]*\)  +# ([^\n]*)$", "".join(blocks), flags=re.M)]
        if "np" not in names:
            wanted = wanted[:-2]
        self.assertGreaterEqual(len(wanted), 15)
        lines = said.getvalue().splitlines()
        self.assertEqual([line for line in lines if not line.startswith("value ")], wanted)
        self.assertEqual(sorted(line for line in lines if line.startswith("value ")), [f"value {one}" for one in range(3)])


if __name__ == "__main__":
    unittest.main()
