# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes a C++ file that compiles to a host's shared object: it holds a kernel source and describes its kernels.

    python3 host.py SOURCE OBJECT > FILE

Compile it with src/host before src in the include path. OBJECT is the code object that clang made of SOURCE for a GPU. It
gives the parameters, sizes and limits of the host's kernels. Writes nothing if `no host code` comments say that no kernel of
the source can run on a host.
"""

import pathlib
import re
import sys

import describe

# The ABI's function has the kernel's name, so the source's function gets another.
OWN = "windlass_source_"
# A barrier switches to the next work-item, a trap leaves it.
FIBERS = re.compile(r"\b(block_barrier|__builtin_amdgcn_s_barrier|__builtin_trap)\(")
DYNAMIC = re.compile(r"^extern SHARED (\w+) (\w+)\[\];", re.MULTILINE)
OPENCL = """#define kernel static
#define global
#define local
#define reqd_work_group_size(...)
"""


def text(name):
    if len(name) > 47:
        describe.fail(f"parameter name {name} does not fit a description's 47 bytes")
    return f'"{name}"'


def parameter(argument):
    kind = "WINDLASS_PARAMETER_BUFFER" if argument["kind"] == "pointer" else "WINDLASS_PARAMETER_VALUE"
    return f"{{{kind}, {argument['offset']}, {argument['size']}, 0, {text(argument['name'])}}}"


def given(argument, kernel):
    at = f"(const u8 *)arguments + {argument['offset']}"
    if argument["kind"] == "lds":
        return f"host::LocalArgument{{{at}, {kernel['static_lds_bytes']}}}"
    return f"host::Argument{{{at}}}"


def entry(kernel, dynamic):
    """The two symbols of a kernel."""
    name, parameters = kernel["name"], kernel["arguments"]
    block = ", ".join(str(size) for size in kernel["required_block"] or [0, 0, 0])
    facts = [
        "WINDLASS_KERNEL_ABI_VERSION", "sizeof(windlass_kernel_info_t)", "sizeof(windlass_parameter_t)",
        str(len(parameters)), str(kernel["explicit_argument_bytes"]), f"{{{block}}}", str(kernel["max_block_items"]),
        str(kernel["static_lds_bytes"]), "{0, 0}",
    ]  # fmt: skip
    described = f"{{{', '.join(facts)}}}"
    if parameters:
        described += ",\n    {" + ",\n     ".join(parameter(argument) for argument in parameters) + "}"
    lines = [
        f"WINDLASS_EXPORT const host::Description<{len(parameters)}> windlass_kernel_{name};",
        f"const host::Description<{len(parameters)}> windlass_kernel_{name} = {{\n    {described}}};",
        f"WINDLASS_EXPORT i32 {name}([[maybe_unused]] const void *arguments, const windlass_workgroup_t *workgroup) {{",
    ]
    for element, array in dynamic:
        start = f"(u8 *)workgroup->local_memory + {kernel['static_lds_bytes']}"
        lines.append(f"  windlass_dynamic_{array} = ({element} (*)[])({start});")
    call = f"{OWN}{name}({', '.join(given(argument, kernel) for argument in parameters)})"
    return "\n".join([*lines, f"  return host::run(workgroup, [=] {{ {call}; }});", "}"])


def host_source(source, object_):
    kernels = describe.kernels_of(source, object_, str(source))
    running = [kernel for kernel in kernels if "no_host_code" not in kernel]
    if not running:
        return ""
    code = source.read_text()
    dynamic = DYNAMIC.findall(code)
    lines = ["// Written by host.py."]
    if FIBERS.search(code):
        lines.append("#define WINDLASS_FIBERS")
    lines.append('#include "device.h"')
    for element, array in dynamic:
        lines.append(
            f'extern "C" __attribute__((visibility("hidden"))) SHARED {element} (*windlass_dynamic_{array})[];\n'
            f"#define {array} (*windlass_dynamic_{array})"
        )
    lines += [f"#define {kernel['name']} {OWN}{kernel['name']}" for kernel in kernels]
    if source.suffix == ".cl":
        lines.append(OPENCL)
    # The compiler looks for the source's headers beside this file first, does not find them, and takes those in src/host.
    lines += ['extern "C" {', f'#line 1 "{source}"', code + "}"]
    lines += [f"#undef {kernel['name']}" for kernel in kernels]
    lines += [f"SHARED {element} (*windlass_dynamic_{array})[];" for element, array in dynamic]
    return "\n".join(lines + [entry(kernel, dynamic) for kernel in running]) + "\n"


def main():
    sys.stdout.write(host_source(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))


if __name__ == "__main__":
    main()
