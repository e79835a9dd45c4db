# SPDX-License-Identifier: MIT OR Apache-2.0
"""Files of device code without a device: inspecting, choosing, extracting."""

import gc
import os
import pathlib
import tempfile
import unittest

import windlass
from windlass import CodeArgumentKind, CodeFile, CodeFit, CodeTarget, Device

BUNDLES = os.environ["WINDLASS_BUNDLES"]


def path_of(name):
    return os.path.join(BUNDLES, name)


def bytes_of(name):
    return pathlib.Path(path_of(name)).read_bytes()


class Files(unittest.TestCase):
    def test_a_bundle_from_a_path_and_from_memory(self):
        for file in (
            CodeFile(path_of("vector_add.ccob")), CodeFile(pathlib.Path(path_of("vector_add.ccob"))),
            CodeFile(os.fsencode(path_of("vector_add.ccob"))), CodeFile.parse(bytearray(bytes_of("vector_add.ccob"))),
        ):
            self.assertEqual((file.kind, file.problems), ("fat binary", []))
            (bundle,) = file.bundles
            self.assertTrue(bundle.is_compressed and bundle.unpacked_size > bundle.stored_size > 0)
            self.assertIn("CCOB v2, zstd", bundle.container)
            self.assertIsNone(bundle.member)
            gpus = [
                "gfx10-1-generic", "gfx10-3-generic", "gfx1030", "gfx11-generic", "gfx1100", "gfx12-generic", "gfx1201",
                "gfx9-4-generic", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942"
            ]
            self.assertEqual([entry.target for entry in bundle.entries], [None, None, *gpus])
            self.assertEqual(bundle.entries[0].target_kind, CodeTarget.HOST)
            self.assertEqual((bundle.entries[4].kind, bundle.entries[4].target_kind), ("hipv4", CodeTarget.GPU))
            self.assertTrue(all(entry.problem is None and entry.size > 0 for entry in bundle.entries))

    def test_the_choice_has_a_verdict_on_each_entry(self):
        file = CodeFile(path_of("vector_add.ccob"))
        best, verdicts = file.select("gfx942:sramecc+:xnack-")
        self.assertEqual((best, len(verdicts)), (14, 15))
        self.assertEqual(verdicts[14], (CodeFit.EXACT, "exact gfx942"))
        self.assertEqual(verdicts[13], (CodeFit.NONE, "gfx90a is another processor than gfx942"))
        self.assertIsNone(file.select("gfx1250").best)
        generic = CodeFile(path_of("vector_add.generic.ccob")).select("gfx1101")
        self.assertEqual(generic.verdicts[generic.best].fit, CodeFit.GENERIC)
        without = CodeFile(path_of("bindings.ccob"))
        family = without.select("gfx1033", compatible_families=True)
        self.assertEqual(family.verdicts[family.best].fit, CodeFit.FAMILY)
        self.assertIsNone(without.select("gfx1033").best)
        with Device("hip-sim://gfx942") as device:
            self.assertEqual(file.select(device.info.architecture).best, 14)

    def test_an_extracted_entry_runs(self):
        file = CodeFile(path_of("vector_add.ccob"))
        image = file.extract(0, file.select("gfx942").best)
        data = image.data
        self.assertEqual(bytes(image), bytes_of("vector_add.gfx942.co"))
        self.assertEqual((image.size, len(image), image.target, image.version, image.rejected), (len(data), len(data), "gfx942", 5, []))
        image.validate()
        image.close()
        gc.collect()
        # These would take the place of an image that nobody keeps.
        others = [file.extract(0, entry) for entry in (3, 2) for _ in range(8)]
        file.close()
        self.assertTrue(data.readonly and others)
        self.assertEqual(bytes(data), bytes_of("vector_add.gfx942.co"))
        with Device("hip-sim://gfx942?memory=64M") as device:
            self.assertEqual(device.load_executable(data).function("vector_add").name, "vector_add")
        self.assertEqual(bytes(data), bytes_of("vector_add.gfx942.co"))

    def test_the_kernels_of_an_image(self):
        image = CodeFile(path_of("vector_add.ccob")).extract(0, 14)
        (kernel,) = image.kernels
        self.assertEqual((kernel.name, kernel.explicit_argument_count, kernel.wave_size), ("vector_add", 4, 64))
        self.assertEqual((kernel.workgroup_size, kernel.max_workgroup_threads), (None, 1024))
        self.assertGreater(kernel.vector_registers, 0)
        mine, hidden = kernel.arguments[:4], kernel.arguments[4:]
        kinds = [CodeArgumentKind.BUFFER] * 3 + [CodeArgumentKind.VALUE]
        self.assertEqual([(one.kind, one.offset, one.size) for one in mine], list(zip(kinds, (0, 8, 16, 24), (8, 8, 8, 4))))
        self.assertTrue(hidden and all(one.kind == CodeArgumentKind.HIDDEN for one in hidden))
        host = CodeFile(path_of("vector_add.ccob")).extract(0, 0)
        self.assertEqual((host.target, host.version, host.kernels[0].wave_size), ("x86_64", None, 0))
        with self.assertRaises(windlass.UnimplementedError):
            host.validate()

    def test_a_library_with_several_bundles(self):
        file = CodeFile(path_of("libkernels.so"))
        self.assertEqual((file.kind, len(file.bundles)), ("host ELF with GPU code", 2))
        self.assertGreater(file.bundles[0].offset, 0)
        names = {kernel.name for bundle in (0, 1) for kernel in file.extract(bundle, file.select("gfx942", bundle).best).kernels}
        self.assertGreaterEqual(len(names), 2)

    def test_formats_and_sizes(self):
        code = bytes_of("vector_add.v3-zstd.ccob")
        self.assertEqual(windlass.code_format(code), "a compressed offload bundle")
        self.assertIsNone(windlass.code_format(b"nothing"))
        self.assertIsNone(windlass.code_format(b""))
        self.assertEqual(windlass.code_size(code + b"more"), len(code))
        self.assertEqual(windlass.code_size(code[:32]), len(code))
        for wrong, kind in ((code[:31], windlass.InvalidArgumentError), (b"PK\x03\x04", windlass.UnimplementedError), (b"", windlass.Error)):
            with self.assertRaises(kind):
                windlass.code_size(wrong)

    def test_what_cannot_be_read(self):
        file = CodeFile(path_of("vector_add.ccob"))
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder, "text")
            text.write_text("no code")
            for kinds, action in (
                (windlass.NotFoundError, lambda: CodeFile(os.path.join(folder, "nowhere"))),
                (windlass.InvalidArgumentError, lambda: CodeFile(text)), (windlass.Error, lambda: CodeFile(folder)),
                (windlass.InvalidArgumentError, lambda: CodeFile.parse(b"")), (windlass.InvalidArgumentError, lambda: CodeFile.parse(b"x" * 99)),
                (TypeError, lambda: CodeFile.parse("text")), (TypeError, lambda: CodeFile(3)), (ValueError, lambda: CodeFile("a\0b")),
                (windlass.InvalidArgumentError, lambda: CodeFile(b"\xff\xfe")),
                (windlass.OutOfRangeError, lambda: file.extract(0, 15)), (windlass.OutOfRangeError, lambda: file.extract(1)),
                (windlass.OutOfRangeError, lambda: file.extract(-1)), (windlass.OutOfRangeError, lambda: file.extract(0, 2**64)),
                (windlass.OutOfRangeError, lambda: file.extract(0, 2**64 - 1)), (TypeError, lambda: file.extract("0")),
                (windlass.InvalidArgumentError, lambda: file.select("no GPU")), (TypeError, lambda: file.select(None)),
                (windlass.OutOfRangeError, lambda: file.select("gfx942", 1)),
                (windlass.ResourceExhaustedError, lambda: CodeFile(path_of("vector_add.ccob"), max_unpacked=1).extract(0, 10)),
            ):
                with self.assertRaises(kinds):
                    action()

    def test_damaged_bytes(self):
        whole = bytes_of("vector_add.ccob")
        for cut in (*range(0, 200, 7), len(whole) // 2, len(whole) - 1):
            for code in (whole[:cut], whole[:cut] + bytes([whole[cut] ^ 0xFF]) + whole[cut + 1 :]):
                try:
                    file = CodeFile.parse(code)
                    for bundle, listed in enumerate(file.bundles):
                        for entry in range(len(listed.entries)):
                            image = file.extract(bundle, entry)
                            image.kernels, image.rejected, image.validate()
                except windlass.Error as error:
                    self.assertTrue(str(error))


if __name__ == "__main__":
    unittest.main()
