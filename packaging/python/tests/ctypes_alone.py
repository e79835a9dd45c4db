# SPDX-License-Identifier: MIT OR Apache-2.0
"""The package with nothing but ctypes: what it changes, and what it refuses. A fresh process runs each function."""

import ctypes
import os
import subprocess
import sys
import tempfile
import threading
import time

NAMES = ["libamdhip64.so", *(f"libamdhip64.so.{major}" for major in (5, 6, 7, 8))]


def maps():
    with open("/proc/self/maps") as text:
        return text.read()


def devices(name):
    count = ctypes.c_int()
    assert ctypes.CDLL(name).hipGetDeviceCount(ctypes.byref(count)) == 0
    return count.value


def refusal(action):
    try:
        action()
    except RuntimeError as error:
        return str(error)
    raise AssertionError("no error")


def import_changes_nothing():
    before = dict(os.environ)
    import windlass

    assert dict(os.environ) == before
    assert "amdhip64" not in maps()
    assert os.path.isfile(windlass.library()) and os.path.isfile(windlass.command())
    # A program finds HIP by none of its names, unless this machine has one.
    found = [name for name in NAMES if loads(name)]
    assert not any(windlass.library() in line for line in maps().splitlines()), found


def loads(name):
    try:
        return ctypes.CDLL(name) is not None
    except OSError:
        return False


def this_process_and_its_children():
    import windlass

    before = dict(os.environ)
    with windlass.simulated(devices=2) as machine:
        assert [devices(name) for name in NAMES] == [2] * len(NAMES)
        import vector_add

        assert vector_add.vector_add() == [3.5] * vector_add.LENGTH
        subprocess.run([sys.executable, vector_add.__file__], check=True)
        counts = machine.counts()
        assert (counts.processes, counts.launches, counts.faults) == (2, 2, 0), counts
        assert "hip-sim://gfx942?devices=2" in refusal(windlass.simulated("gfx90a").__enter__)
    assert dict(os.environ) == before


def a_child_alone():
    import windlass

    variables = windlass.env("gfx90a", devices=3)
    folder = variables["ROCM_PATH"]
    assert os.path.isdir(folder) and "amdhip64" not in maps()
    count = "import ctypes_alone as c; print(c.devices('libamdhip64.so'))"
    variables["PYTHONPATH"] = os.path.dirname(os.path.abspath(__file__))
    ran = subprocess.run([sys.executable, "-c", count], env={**os.environ, **variables}, stdout=subprocess.PIPE, check=True)
    assert ran.stdout == b"3\n", ran
    assert "gfx1250" in refusal(lambda: windlass.env("gfx1250"))


def a_loaded_hip_is_respected():
    import windlass

    ctypes.CDLL(windlass.library())
    assert windlass.library() in refusal(windlass.simulated().__enter__)


def a_real_hip_is_respected():
    import windlass
    from windlass._names import library_of_names

    with tempfile.TemporaryDirectory() as folder, open(windlass.library(), "rb") as simulated:
        # Stands for AMD's, in a place of its own such as PyTorch's folder. It has no functions.
        real = os.path.join(folder, "libamdhip64.so.6.4.43484")
        with open(real, "wb") as file:
            file.write(library_of_names(folder, [], simulated.read(20)))
        ctypes.CDLL(real)
        environment, loaded = dict(os.environ), maps()
        said = refusal(windlass.simulated().__enter__)
        assert real in said and "before the first import that loads HIP" in said and "windlass.env()" in said, said
        assert dict(os.environ) == environment and maps().count("amdhip64") == loaded.count("amdhip64")
        # A child does not have it, so it may have a simulated one.
        assert windlass.env()["WINDLASS_HIP_LIBRARY"] and maps().count("amdhip64") == loaded.count("amdhip64")


def threads_share_a_machine():
    import windlass

    before = dict(os.environ)
    together = threading.Barrier(6)

    def at_once(act):
        def run(index):
            try:
                results[index] = act(index)
            except BaseException as error:
                results[index] = error

        results = [None] * together.parties
        threads = [threading.Thread(target=run, args=(index,)) for index in range(together.parties)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        errors = [result for result in results if isinstance(result, BaseException)]
        assert not errors, errors
        return results

    def launches(index):
        together.wait()
        with windlass.simulated() as machine:
            # Half of the threads leave before the others start a child.
            together.wait()
            if index % 2:
                ended = subprocess.run([sys.executable, "-c", child], cwd=here, stderr=subprocess.DEVNULL)
                assert ended.returncode == 1, ended
            return machine

    child, here = "import vector_add; vector_add.vector_add(1 << 20)", os.path.dirname(os.path.abspath(__file__))
    machines = at_once(launches)
    assert len(set(map(id, machines))) == 1, machines
    assert machines[0].counts().faults == 3, machines[0].counts()
    assert dict(os.environ) == before, set(os.environ) ^ set(before)

    def variables(index):
        together.wait()
        return windlass.env("gfx90a")

    folders = {one["ROCM_PATH"] for one in at_once(variables)}
    assert len(folders) == 1, folders


def forked_children_ask_too():
    import windlass

    with windlass.simulated() as machine:
        machine.counts()
        children = [os.fork() for _ in range(4)]
        if 0 in children:
            # Each asks often, while the others do.
            launches = {machine.counts().launches for _ in range(50)}
            os._exit(0 if launches == {0} else 1)
        ends = [os.waitpid(child, 0)[1] for child in children]
        assert ends == [0] * 4, ends
        assert machine.counts().launches == 0


def an_unread_answer_is_passed_over():
    import windlass

    class Timeout(Exception):
        pass

    def stop(*_):
        raise Timeout

    child = "import vector_add; vector_add.vector_add(1 << 20)"
    here = os.path.dirname(os.path.abspath(__file__))
    with windlass.simulated() as machine:
        asked = machine._answer
        machine._answer = stop
        try:
            machine.counts()
        except Timeout:
            pass
        machine._answer = asked
        subprocess.run([sys.executable, "-c", child], cwd=here, stderr=subprocess.DEVNULL)
        assert machine.counts().faults == 1, machine.counts()


def a_refused_launch_fails_a_check():
    import windlass

    here = os.path.dirname(os.path.abspath(__file__))
    for block, code in ((256, 0), (4096, 1)):
        # Nobody looks at the status of the call.
        use = f"import vector_add; vector_add.checked = lambda status: None; vector_add.vector_add(block={block})"
        words = [windlass.command(), "exec", "--check", "--library", windlass.library(), "--", sys.executable, "-c", use]
        ended = subprocess.run(words, cwd=here, stderr=subprocess.PIPE)
        assert ended.returncode == code, ended
        assert (b"error: --check: a launch was refused" in ended.stderr) == bool(code), ended


def a_device_is_a_text():
    import windlass

    for action in (windlass.simulated(7).__enter__, lambda: windlass.env(7)):
        try:
            action()
        except TypeError as error:
            assert 'such as "gfx942"' in str(error) and "this one is 7 of type int" in str(error), error
        else:
            raise AssertionError("no error")


def a_folder_may_have_letters_that_the_locale_lacks():
    with tempfile.TemporaryDirectory() as folder:
        named = os.path.join(folder, "letters-\u00e4")
        os.mkdir(named.encode())
        ascii = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
        environment = {**os.environb, b"TMPDIR": named.encode(), **{k.encode(): v.encode() for k, v in ascii.items()}}
        use = (
            "import windlass, vector_add\n"
            "from windlass._machine import synchronize\n"
            "with windlass.simulated() as machine:\n"
            "    vector_add.vector_add(); synchronize(machine)\n"
            "    assert machine.counts().launches == 1, machine.counts()\n"
        )
        here = os.path.dirname(os.path.abspath(__file__))
        subprocess.run([sys.executable, "-c", use], env=environment, cwd=here, check=True)


def the_folder_goes_with_the_process():
    end = "import os, signal, sys, windlass; print(windlass.env()['ROCM_PATH'], flush=True); os.kill(os.getpid(), int(sys.argv[1]))"
    for signal in (0, 9):
        ran = subprocess.run([sys.executable, "-c", end, str(signal)], stdout=subprocess.PIPE)
        folder = ran.stdout.decode().strip()
        deadline = time.monotonic() + 10
        while os.path.exists(folder):
            assert time.monotonic() < deadline, f"{folder} is still there"
            time.sleep(0.01)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        globals()[sys.argv[1]]()
    else:
        for case in (
            "import_changes_nothing",
            "this_process_and_its_children",
            "a_child_alone",
            "a_loaded_hip_is_respected",
            "a_real_hip_is_respected",
            "threads_share_a_machine",
            "forked_children_ask_too",
            "an_unread_answer_is_passed_over",
            "a_refused_launch_fails_a_check",
            "a_device_is_a_text",
            "a_folder_may_have_letters_that_the_locale_lacks",
            "the_folder_goes_with_the_process",
        ):
            subprocess.run([sys.executable, __file__, case], check=True)
            print("ok  ", case.replace("_", " "))
