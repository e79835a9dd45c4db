# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes manifest.json and the tables of README.md.

    python3 describe.py MADE FOLDER

MADE has one line per compiled module, tab separated: name, source, compiler, object to read, and then one
`path|container|entries` for each file made of it. FOLDER holds manifest.json and README.md, which are rewritten;
modules of the old manifest that MADE does not name stay. The comments of a source describe its kernels. A difference to
the metadata of the object is an error.
"""

import json
import pathlib
import re
import struct
import sys

SIZES = {
    "i8": 1, "u8": 1, "i16": 2, "u16": 2, "f16": 2, "bf16": 2, "i32": 4, "u32": 4, "f32": 4,
    "i64": 8, "u64": 8, "f64": 8, "u128": 16,
}  # fmt: skip
FIELDS = ("args", "block", "grid", "lds", "does", "for")
# A code object with line numbers holds a checksum of its source, so this exception cannot stand in the source.
NO_HOST_CODE = {"violations.hip": "they leave their buffers on purpose, and nothing would stop them"}
BEGIN, END = "<!-- tables: written by describe.py -->", "<!-- end of tables -->"


def fail(message):
    sys.exit(f"describe.py: {message}")


# ---- the comments of the source ----


def comments(path):
    """The `key: text` comment lines of a source, in order."""
    for line in path.read_text().splitlines():
        match = re.match(r"(?://|#) ?(kernel|symbol|struct|args|block|grid|lds|does|for|no host code|no host code of any kernel): (.*)", line)
        if match:
            yield match.groups()


def declared(path):
    """Kernels (with the family they come from), symbols and structs that a source declares."""
    kernels, symbols, structs, no_host_code = [], [], {}, NO_HOST_CODE.get(path.name)
    for key, text in comments(path):
        if key == "kernel":
            kernels.append({"kernel": text})
        elif key == "symbol":
            symbols.append(text)
        elif key == "struct":
            name, size, layout = re.match(r"(\w+) (\d+): (.*)", text).groups()
            structs[name] = {"size": int(size), "layout": layout}
        elif key == "no host code of any kernel":
            no_host_code = text
        elif not kernels:
            fail(f"{path}: '{key}' before any kernel")
        else:
            kernels[-1][key] = text
    for kernel in kernels:
        if no_host_code is not None:
            kernel["no host code"] = no_host_code
        lacking = [field for field in FIELDS if field != "lds" and field not in kernel]
        if lacking:
            fail(f"{path}: kernel {kernel['kernel']} does not say {', '.join(lacking)}")
    same = {"the same", "the same in f64"}
    for before, kernel in zip(kernels, kernels[1:]):
        if kernel["does"] in same:
            kernel["does"] = before["does"]
        elif kernel["does"].startswith("the same;"):
            kernel["does"] = before["does"] + kernel["does"].removeprefix("the same")
    return kernels, symbols, structs


def members(kernel):
    """One (name, facts) per kernel of a family `name_{T} for T in ...`, or the kernel itself."""
    match = re.match(r"(\w*)\{T\} for T in (.*)", kernel["kernel"])
    if not match:
        return [(kernel["kernel"], kernel)]
    return [
        (match[1] + t, {key: text.replace("{T}", t) for key, text in kernel.items()}) for t in match[2].split()
    ]


def argument(text, structs):
    name, type_, *access = text.split()
    if type_.startswith("*"):
        element, count = re.match(r"\*(\w+)(?:\[(\d+)\])?$", type_).groups()
        if element != "void" and element not in SIZES:
            fail(f"argument '{text}': unknown element type")
        if len(access) != 1 or access[0] not in ("in", "out", "inout", "null"):
            fail(f"argument '{text}': say in, out, inout or null")
        return {
            "name": name, "kind": "pointer", "element": element, "count": int(count) if count else None,
            "access": access[0], "size": 8,
        }  # fmt: skip
    if type_.startswith("lds("):
        return {"name": name, "kind": "lds", "element": type_[4:-1], "size": 4}
    if type_ in structs:
        return {"name": name, "kind": "bytes", "struct": type_, **structs[type_]}
    if type_ not in SIZES or access:
        fail(f"argument '{text}': unknown type")
    return {"name": name, "kind": "value", "type": type_, "size": SIZES[type_]}


def fixed_block(text):
    """[x, y, z] where the rule fixes the block size, else None."""
    match = re.match(r"(?:x = )?(\d+)(?: x (\d+))?(?: x (\d+))?(?: \(|$)", text)
    return [int(size or 1) for size in match.groups()] if match else None


# ---- the metadata of the code object ----


def unpack(data, at=0):
    """One msgpack value and the offset of the next, in the forms that compilers write."""
    tag = data[at]
    at += 1
    if tag <= 0x7F:
        return tag, at
    if tag <= 0x8F:
        return unpack_map(data, at, tag & 15)
    if tag <= 0x9F:
        return unpack_list(data, at, tag & 15)
    if tag <= 0xBF:
        return data[at : at + (tag & 31)].decode(), at + (tag & 31)
    if tag in (0xC2, 0xC3):
        return tag == 0xC3, at
    if 0xCC <= tag <= 0xCF:
        width = 1 << (tag - 0xCC)
        return int.from_bytes(data[at : at + width], "big"), at + width
    if 0xD9 <= tag <= 0xDF:
        width = {0xD9: 1, 0xDA: 2, 0xDB: 4, 0xDC: 2, 0xDD: 4, 0xDE: 2, 0xDF: 4}[tag]
        length = int.from_bytes(data[at : at + width], "big")
        at += width
        if tag <= 0xDB:
            return data[at : at + length].decode(), at + length
        return (unpack_list if tag <= 0xDD else unpack_map)(data, at, length)
    return fail(f"msgpack: unexpected tag {tag:#x}")


def unpack_list(data, at, length):
    items = []
    for _ in range(length):
        item, at = unpack(data, at)
        items.append(item)
    return items, at


def unpack_map(data, at, length):
    items, at = unpack_list(data, at, 2 * length)
    return dict(zip(items[::2], items[1::2])), at


def metadata(path):
    """The kernels of a code object by name, from its AMDGPU note."""
    data = path.read_bytes()
    if data[:4] != b"\x7fELF":
        fail(f"{path} is not an ELF file")
    first, width, count = struct.unpack_from("<Q", data, 32)[0], *struct.unpack_from("<HH", data, 54)
    for index in range(count):
        kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", data, first + index * width)
        if kind != 4:
            continue
        owner, length, type_ = struct.unpack_from("<III", data, offset)
        if type_ == 32 and data[offset + 12 : offset + 12 + owner] == b"AMDGPU\0":
            start = offset + 12 + (owner + 3) // 4 * 4
            note, _ = unpack(data[start : start + length])
            return {kernel[".name"]: kernel for kernel in note["amdhsa.kernels"]}
    return fail(f"{path} has no AMDGPU note")


# ---- both together ----


def described(name, facts, structs, found, where):
    arguments = [] if facts["args"] == "none" else [argument(text, structs) for text in facts["args"].split(", ")]
    explicit = [entry for entry in found.get(".args", []) if not entry[".value_kind"].startswith("hidden_")]
    kinds = {"pointer": "global_buffer", "lds": "dynamic_shared_pointer"}
    expected = [(kinds.get(entry["kind"], "by_value"), entry["size"]) for entry in arguments]
    actual = [(entry[".value_kind"], entry[".size"]) for entry in explicit]
    if expected != actual:
        fail(f"{where}: {name} declares {expected}, the code object has {actual}")
    for entry, meta in zip(arguments, explicit):
        entry["offset"] = meta[".offset"]
    block, required = fixed_block(facts["block"]), found.get(".reqd_workgroup_size")
    if required is not None and required != block:
        fail(f"{where}: {name} declares block {block}, the code object requires {required}")
    result = {
        "name": name,
        "arguments": arguments,
        "explicit_argument_bytes": max((e["offset"] + e["size"] for e in arguments), default=0),
        "kernarg_segment_bytes": found[".kernarg_segment_size"],
        "block_rule": facts["block"],
        "block": block,
        "required_block": required,
        "max_block_items": found[".max_flat_workgroup_size"],
        "grid_rule": facts["grid"],
        "static_lds_bytes": found[".group_segment_fixed_size"],
        "dynamic_lds_bytes": facts.get("lds", "0"),
        "private_bytes_per_item": found[".private_segment_fixed_size"],
        "dynamic_stack": bool(found.get(".uses_dynamic_stack", False)),
        "hidden_arguments": any(e[".value_kind"].startswith("hidden_") for e in found.get(".args", [])),
    }
    if "no host code" in facts:
        result["no_host_code"] = facts["no host code"]
    return result


def check_triton(kernel, path):
    """The JSON beside a Triton kernel states block size and LDS; the comments must agree."""
    facts = json.loads(path.read_text())
    if [facts["block"], 1, 1] != kernel["block"] or str(facts["shared"]) != kernel["dynamic_lds_bytes"]:
        fail(f"{path}: block {facts['block']} and LDS {facts['shared']} differ from the comments in the source")


def kernels_of(path, object_, where):
    """The kernels of a source, as its comments and the code object describe them."""
    kernels, _, structs = declared(path)
    found = metadata(object_)
    triton = where.startswith("triton/")
    if triton:
        kernels = [kernel for kernel in kernels if kernel["kernel"] in found]
    result = []
    for kernel in kernels:
        for member, facts in members(kernel):
            if member not in found:
                fail(f"{where} declares {member}; its code object has {sorted(found)}")
            result.append(described(member, facts, structs, found.pop(member), where))
            if triton:
                check_triton(result[-1], object_.with_suffix(".json"))
    if found:
        fail(f"{where} does not say what {sorted(found)} are")
    return result


def module(line, folder):
    name, source, compiler, object_, *files = line.split("\t")
    _, symbols, _ = declared(folder / source)
    result = kernels_of(folder / source, pathlib.Path(object_), source)
    listed = []
    for file in files:
        path, container, entries = file.split("|")
        listed.append({"path": path, "container": container, "entries": entries.split()})
    return {
        "module": name, "source": source, "compiler": compiler, "files": listed, "symbols": symbols,
        "kernels": result,
    }  # fmt: skip


# ---- the tables ----


def cell(text):
    return str(text).replace("|", "\\|")


def table(entry, folder):
    lines = [f"### `{entry['source']}`" + (f": `{entry['module']}`" if entry["module"].startswith("triton") else ""), ""]
    for file in entry["files"]:
        entries = ", ".join(f"`{e}`" for e in file["entries"])
        lines.append(f"- `{file['path']}`: {file['container']}; {entries}")
    lines += [f"- compiler: {entry['compiler']}"]
    lines += [f"- symbol: {symbol}" for symbol in entry["symbols"]]
    kernels, _, structs = declared(folder / entry["source"])
    reasons = {}
    for kernel in entry["kernels"]:
        if "no_host_code" in kernel:
            reasons.setdefault(kernel["no_host_code"], []).append(f"`{kernel['name']}`")
    for reason, names in reasons.items():
        which = "any kernel" if len(names) == len(entry["kernels"]) else ", ".join(names)
        lines.append(f"- no host code of {which}: {reason}")
    lines += [f"- struct `{name}`, {s['size']} bytes: {s['layout']}" for name, s in structs.items()]
    lines += ["", "| kernel | arguments, in order | block | grid | LDS bytes | does | for |", "|---|---|---|---|---|---|---|"]
    made = {kernel["name"]: kernel for kernel in entry["kernels"]}
    for kernel in kernels:
        name = members(kernel)[0][0]
        if name not in made:
            continue
        static, dynamic = made[name]["static_lds_bytes"], made[name]["dynamic_lds_bytes"]
        lds = " + ".join([str(static)] * (static > 0) + [f"dynamic: {dynamic}"] * (dynamic != "0")) or "0"
        title = re.sub(r"^(\S+)(.*)", r"`\1`\2", kernel["kernel"])
        arguments = kernel["args"] if kernel["args"] == "none" else f"`{kernel['args']}`"
        row = [title, arguments, kernel["block"], kernel["grid"], lds, kernel["does"], kernel["for"]]
        lines.append("| " + " | ".join(cell(text) for text in row) + " |")
    return lines + [""]


def rendered(modules):
    """JSON with one line per file and per kernel."""
    texts = []
    for entry in modules:
        fields = []
        for key, value in entry.items():
            text = json.dumps(value)
            if key in ("files", "kernels"):
                text = "[\n    " + ",\n    ".join(json.dumps(item) for item in value) + "\n   ]"
            fields.append(f"   {json.dumps(key)}: {text}")
        texts.append("  {\n" + ",\n".join(fields) + "\n  }")
    return '{\n "modules": [\n' + ",\n".join(texts) + "\n ]\n}\n"


def main():
    made, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    manifest = folder / "manifest.json"
    modules = {}
    if manifest.exists():
        modules = {entry["module"]: entry for entry in json.loads(manifest.read_text())["modules"]}
    for line in pathlib.Path(made).read_text().splitlines():
        entry = module(line, folder)
        modules[entry["module"]] = entry
    order = ("src/", "iree/", "triton/")
    modules = sorted(modules.values(), key=lambda e: (order.index(e["source"].split("/")[0] + "/"), e["module"]))
    modules = [entry for entry in modules if (folder / entry["source"]).exists()]
    manifest.write_text(rendered(modules))
    readme = folder / "README.md"
    before, _, rest = readme.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    tables = "\n".join(line for entry in modules for line in table(entry, folder))
    readme.write_text(f"{before}{BEGIN}\n\n{tables}\n{END}{after}")


if __name__ == "__main__":
    main()
