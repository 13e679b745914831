# SPDX-License-Identifier: MIT
"""A device tree blob with a property less: the property's words become NOP tokens (Devicetree Specification 5.4).

Enough to boot a machine that lacks something, without tools for device trees.
"""
import struct

BEGIN_NODE, END_NODE, PROP, NOP, END = 1, 2, 3, 4, 9


def _string(blob, at):
    return bytes(blob[at:blob.index(0, at)]).decode()


def _properties(blob):
    """Each property: (node's name without its address, property's name, first byte, byte behind)."""
    magic, _, at, strings = struct.unpack_from(">4I", blob)
    if magic != 0xd00dfeed:
        raise ValueError("not a device tree")
    path = []
    while True:
        token, start, at = struct.unpack_from(">I", blob, at)[0], at, at + 4
        if token == BEGIN_NODE:
            name = _string(blob, at)
            at += (len(name) + 4) & ~3
            path.append(name.split("@")[0])
        elif token == END_NODE:
            path.pop()
        elif token == PROP:
            size, name = struct.unpack_from(">2I", blob, at)
            at += 8 + ((size + 3) & ~3)
            yield path[-1], _string(blob, strings + name), start, at
        elif token == END:
            return
        elif token != NOP:
            raise ValueError(f"token {token} at {start}")


def _without_padding(out):
    """QEMU pads what it dumps to 1 MiB, doubles what it loads, and a kernel accepts 2 MiB."""
    structs, strings = struct.unpack_from(">2I", out, 8)
    size_strings, size_structs = struct.unpack_from(">2I", out, 32)
    end = max(structs + size_structs, strings + size_strings)
    struct.pack_into(">I", out, 4, end)
    return bytes(out[:end])


def drop(blob, node, prop):
    """blob (bytes) without this property of the nodes of this name. ValueError if there is none."""
    out = bytearray(blob)
    found = [(a, b) for n, p, a, b in _properties(blob) if (n, p) == (node, prop)]
    if not found:
        raise ValueError(f"no property {prop} in a node {node}")
    for a, b in found:
        out[a:b] = struct.pack(">I", NOP) * ((b - a) // 4)
    return _without_padding(out)
