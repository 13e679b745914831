#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns `nm -n` output into the kernel's symbol table.

usage: kallsyms.py NM-OUTPUT OUT.S      (an empty input gives an empty table)

The table, for C (all in read-only data, sorted by address):

    extern const unsigned int kallsyms_count;
    extern const unsigned long kallsyms_addr[];      address of symbol i
    extern const char kallsyms_type[];               nm's letter: 't' local, 'T' global text, ...
    extern const unsigned int kallsyms_name_off[];   offset of its name in kallsyms_names
    extern const char kallsyms_names[];              names, each ended by NUL
"""
import sys

SKIP_PREFIX = ("$", ".L", "__kallsyms", "__func__.", "__PRETTY_FUNCTION__.")


def symbols(lines):
    for line in lines:
        part = line.split()
        if len(part) != 3:
            continue
        addr, kind, name = part
        if kind in "aANUw" or name.startswith(SKIP_PREFIX):
            continue
        yield int(addr, 16), kind, name


def emit(out, syms):
    def label(name, align):
        out.write(f"\t.balign {align}\n\t.globl {name}\n\t.type {name}, %object\n{name}:\n")

    out.write('/* made by scripts/kallsyms.py */\n\t.section .rodata.kallsyms, "a", %progbits\n')
    label("kallsyms_count", 8)
    out.write(f"\t.word {len(syms)}\n")
    label("kallsyms_addr", 8)
    for addr, _, _ in syms:
        out.write(f"\t.quad {addr:#x}\n")
    label("kallsyms_name_off", 4)
    off = 0
    for _, _, name in syms:
        out.write(f"\t.word {off}\n")
        off += len(name) + 1
    label("kallsyms_type", 1)
    for _, kind, _ in syms:
        out.write(f"\t.byte {ord(kind)}\n")
    label("kallsyms_names", 1)
    for _, _, name in syms:
        out.write(f'\t.asciz "{name}"\n')
    out.write('\t.section .note.GNU-stack, "", %progbits\n')


def main():
    with open(sys.argv[1], encoding="ascii") as src:
        syms = sorted(symbols(src), key=lambda s: s[0])
    with open(sys.argv[2], "w", encoding="ascii") as out:
        emit(out, syms)


main()
