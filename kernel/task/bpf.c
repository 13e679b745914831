/* SPDX-License-Identifier: MIT */
/*
 * Classic BPF: an accumulator A, an index X, sixteen words of scratch memory, and jumps that only go
 * forward. So every program ends, after at most as many steps as it has instructions.
 *
 * All checks are made once, when a program comes in: afterwards a run can leave neither the program nor
 * the data nor the scratch memory, and never reads a scratch word that it has not written. The last is
 * found in one pass, because all jumps go forward: for each instruction, the words that are written
 * on every way that leads there.
 *
 * The instructions allowed are those that Linux allows in a filter of system calls. There is no packet:
 * loads are of whole, aligned words of the data.
 */
#include "bpf.h"

#include <perch/errno.h>
#include <perch/page.h>
#include <string.h>

/* An instruction's code: class, then size and mode (loads), or operation and source. */
#define CLASS(code)	((code) & 0x07)
#define LD	0x00
#define LDX	0x01
#define ST	0x02
#define STX	0x03
#define ALU	0x04
#define JMP	0x05
#define RET	0x06
#define MISC	0x07
#define MODE(code)	((code) & 0xe0)
#define IMM	0x00
#define ABS	0x20
#define MEM	0x60
#define LEN	0x80
#define OP(code)	((code) & 0xf0)
#define ADD	0x00
#define SUB	0x10
#define MUL	0x20
#define DIV	0x30
#define OR	0x40
#define AND	0x50
#define LSH	0x60
#define RSH	0x70
#define NEG	0x80
#define XOR	0xa0
#define JA	0x00
#define JEQ	0x10
#define JGT	0x20
#define JGE	0x30
#define JSET	0x40
#define TXA	0x80
#define K	0x00
#define X	0x08
#define A	0x10	/* of RET */

#define MEMWORDS 16

/* --- the check */

static bool known_alu(u16 code)
{
	switch (code) {
	case ALU | ADD | K: case ALU | SUB | K: case ALU | MUL | K: case ALU | DIV | K:
	case ALU | AND | K: case ALU | OR | K: case ALU | XOR | K: case ALU | LSH | K: case ALU | RSH | K:
	case ALU | ADD | X: case ALU | SUB | X: case ALU | MUL | X: case ALU | DIV | X:
	case ALU | AND | X: case ALU | OR | X: case ALU | XOR | X: case ALU | LSH | X: case ALU | RSH | X:
	case ALU | NEG:
		return true;
	}
	return false;
}

static bool known(u16 code)
{
	switch (code) {
	case LD | ABS: case LD | IMM: case LD | MEM: case LD | LEN:
	case LDX | IMM: case LDX | MEM: case LDX | LEN:
	case ST: case STX: case RET | K: case RET | A: case MISC: case MISC | TXA:
	case JMP | JA: case JMP | JEQ | K: case JMP | JGT | K: case JMP | JGE | K: case JMP | JSET | K:
	case JMP | JEQ | X: case JMP | JGT | X: case JMP | JGE | X: case JMP | JSET | X:
		return true;
	}
	return known_alu(code);
}

static bool uses_mem(u16 code)
{
	return code == ST || code == STX || code == (LD | MEM) || code == (LDX | MEM);
}

/* left: instructions behind this one. */
static bool operands_ok(const struct bpf_insn *i, u32 left, u32 size)
{
	if (uses_mem(i->code))
		return i->k < MEMWORDS;
	switch (i->code) {
	case LD | ABS:
		return i->k < size && i->k % sizeof(u32) == 0;
	case ALU | DIV | K:
		return i->k != 0;
	case ALU | LSH | K: case ALU | RSH | K:
		return i->k < 32;
	case JMP | JA:
		return i->k < left;
	}
	return CLASS(i->code) != JMP || (i->jt < left && i->jf < left);
}

/*
 * *written: the scratch words, one bit each, that are written on every way to this instruction; behind it, the
 * same for the following ones as far as known: all ones where no way has been found. False: the instruction reads
 * a word that is not. (What stands behind a return is taken to be reached through it, as on Linux.)
 */
static bool follow(const struct bpf_insn *i, u16 *written)
{
	u16 now = written[0], *next = written + 1;

	switch (CLASS(i->code)) {
	case LD:
	case LDX:
		if (MODE(i->code) == MEM && !(now & BIT(i->k)))
			return false;
		break;
	case ST:
	case STX:
		now |= BIT(i->k);
		break;
	case JMP:
		next[i->code == (JMP | JA) ? i->k : i->jt] &= now;
		next[i->code == (JMP | JA) ? i->k : i->jf] &= now;
		return true;
	}
	next[0] &= now;
	return true;
}

static int memory_ok(const struct bpf_insn *prog, u32 n)
{
	u16 *written = kmalloc((n + 1) * sizeof(*written));
	u32 pc = 0;

	if (!written)
		return -ENOMEM;
	memset(written, 0xff, (n + 1) * sizeof(*written));
	written[0] = 0;
	while (pc < n && follow(&prog[pc], &written[pc]))
		pc++;
	kfree(written);
	return pc == n ? 0 : -EINVAL;
}

int bpf_check(const struct bpf_insn *prog, u32 n, u32 size)
{
	for (u32 pc = 0; pc < n; pc++)
		if (!known(prog[pc].code) || !operands_ok(&prog[pc], n - pc - 1, size))
			return -EINVAL;
	return CLASS(prog[n - 1].code) == RET ? memory_ok(prog, n) : -EINVAL;
}

/* --- the run */

static u32 load(const struct bpf_insn *i, const u32 *data, u32 size, const u32 *mem)
{
	switch (MODE(i->code)) {
	case ABS: return data[i->k / sizeof(u32)];
	case MEM: return mem[i->k];
	case LEN: return size;
	}
	return i->k;
}

static u32 alu(u16 code, u32 a, u32 b)
{
	switch (OP(code)) {
	case ADD: return a + b;
	case SUB: return a - b;
	case MUL: return a * b;
	case DIV: return a / b;
	case OR: return a | b;
	case AND: return a & b;
	case XOR: return a ^ b;
	case LSH: return a << (b & 31);
	case RSH: return a >> (b & 31);
	}
	return -a;	/* NEG */
}

/* How many instructions a jump skips. */
static u32 jump(const struct bpf_insn *i, u32 a, u32 b)
{
	switch (OP(i->code)) {
	case JEQ: return a == b ? i->jt : i->jf;
	case JGT: return a > b ? i->jt : i->jf;
	case JGE: return a >= b ? i->jt : i->jf;
	case JSET: return a & b ? i->jt : i->jf;
	}
	return i->k;	/* JA */
}

u32 bpf_run(const struct bpf_insn *i, const u32 *data, u32 size)
{
	u32 a = 0, x = 0, mem[MEMWORDS];

	for (;; i++) {
		u32 b = i->code & X ? x : i->k;

		switch (CLASS(i->code)) {
		case LD: a = load(i, data, size, mem); break;
		case LDX: x = load(i, data, size, mem); break;
		case ST: mem[i->k] = a; break;
		case STX: mem[i->k] = x; break;
		case ALU:
			if (OP(i->code) == DIV && !b)
				return 0;	/* the end, as on Linux */
			a = alu(i->code, a, b);
			break;
		case JMP: i += jump(i, a, b); break;
		case RET: return i->code & A ? a : i->k;
		case MISC:
			if (i->code & TXA)
				a = x;
			else
				x = a;
		}
	}
}
