# SPDX-License-Identifier: MIT OR Apache-2.0
"""The package uses each function of windlass.h, or REASONS says why it does not."""

import ast
import fnmatch
import pathlib
import subprocess
import sys
import unittest

import windlass
from windlass import _abi
from windlass._handle import Object

REASONS = {
    "windlass_*_retain": "an object of Python has one reference, and Python counts those to the object",
    "windlass_semaphore_fail": "windlass_semaphore_fail_with takes every error",
    "windlass_semaphore_wait": "the function with a policy serves",
    "windlass_wait_all": "the function with a policy serves",
    "windlass_wait_any": "the function with a policy serves",
    "windlass_fence_wait": "a wait that Ctrl-C interrupts is made of stretches, which must have the same points",
    "windlass_buffer_host_pointer": "the pointer must keep the memory: windlass_buffer_export_host_pointer",
    "windlass_buffer_export_device_address": "the Buffer keeps the memory behind its device_address",
    "windlass_export_address": "it belongs to windlass_buffer_export_device_address",
    "windlass_export_size": "windlass_buffer_size is the same",
    "windlass_element_type_size": "the lowest byte of an element type is its size in bits",
    "windlass_shape_byte_length": "Python's numbers do not overflow",
    "windlass_code_at": "code at an address without a length has no object in Python",
    "windlass_file_from_functions": "the library calls no function of Python, and these would have to return bytes",
    "windlass_host_call_defer": "windlass_ticket_host_call does it",
    "windlass_version": "the package's metadata has it",
    "windlass_uri_*": "for drivers and wrappers, whose functions the library would call",
    "windlass_operation_*": "for drivers and wrappers, whose functions the library would call",
    "windlass_answer_*": "for drivers, whose functions the library would call",
    "windlass_driver_register": "the library calls no function of Python",
    "windlass_device_wrap": "the library calls no function of Python",
    "windlass_wrapper_register": "the library calls no function of Python",
}
"""Functions that the package does not use, by their names or by patterns."""


def named(tree):
    """The names of functions in a module: as attributes of the library, and as texts."""
    for node in ast.walk(tree):
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "value", None)
        if isinstance(name, str) and name in _abi.FUNCTIONS:
            yield name


def kinds(kind):
    yield kind
    for sub in kind.__subclasses__():
        yield from kinds(sub)


def used():
    folder = pathlib.Path(windlass.__file__).parent
    found = set()
    for path in folder.rglob("*.py"):
        if path.name != "_abi.py":
            found.update(named(ast.parse(path.read_text())))
    # Object._adopt makes these names.
    found.update(f"windlass_{kind.KIND.replace(' ', '_')}_release" for kind in kinds(Object) if kind is not Object)
    return found


class Parity(unittest.TestCase):
    def test_the_declarations_are_those_of_the_header(self):
        write_abi = pathlib.Path(__file__).resolve().parents[2] / "write_abi"
        ended = subprocess.run([sys.executable, str(write_abi), "--check"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(ended.returncode, 0, ended.stdout)

    def test_each_function_is_used_or_has_a_reason(self):
        excused = [name for name in _abi.FUNCTIONS if any(fnmatch.fnmatch(name, one) for one in REASONS)]
        missing = set(_abi.FUNCTIONS) - used() - set(excused)
        self.assertEqual(sorted(missing), [], "windlass.h has functions that Python lacks: use them, or add a reason")

    def test_no_reason_is_stale(self):
        unused = set(_abi.FUNCTIONS) - used()
        for pattern in REASONS:
            self.assertTrue(fnmatch.filter(unused, pattern), f"{pattern} excuses no function that Python lacks")
            if "*" not in pattern:
                self.assertIn(pattern, _abi.FUNCTIONS)

    def test_releases_exist(self):
        self.assertEqual(sorted(used() - set(_abi.FUNCTIONS)), [])

    def test_each_name_is_public_and_documented(self):
        for name in windlass.__all__:
            thing = getattr(windlass, name)
            if isinstance(thing, type):
                self.assertTrue(thing.__doc__ and not thing.__doc__.startswith(f"{name}("), f"{name} has no text")


if __name__ == "__main__":
    unittest.main()
