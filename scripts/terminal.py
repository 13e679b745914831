# SPDX-License-Identifier: MIT
"""A terminal at the guest's console, for tests of full-screen programs: it keeps what the screen shows.

Understood is what the terminfo entry "linux" uses: cursor movements, erasing, insert mode, inserting and deleting lines
and characters, a scroll region, colours, the line-drawing set. An unknown sequence is an error, so that a picture which
might be wrong is not judged.
"""
import os
import re
import select
import shlex
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SLOW = 60.0  # seconds for one answer: a hang detector, not a goal
SEQUENCE = re.compile(r"\x1b\[([?>]?)([\d;]*)([@A-Za-z`])|\x1b[()][0-9A-B]|\x1b[78=>MDEHc]")
LINES = dict(zip("lqkxmjtuvwn`a", "┌─┐│└┘├┤┴┬┼◆▒"))


class Screen:
    def __init__(self, rows, cols):
        self.rows, self.cols = rows, cols
        self.cells = [[(" ", None)] * cols for _ in range(rows)]
        self.y = self.x = 0
        self.top, self.bottom = 0, rows - 1
        self.back = None            # background colour
        self.insert = self.drawing = False
        self.saved = 0, 0
        self.asked = []             # answers to "where is the cursor?"
        self.rest = ""              # the beginning of a sequence

    def text(self):
        return "\n".join("".join(c for c, _ in row).rstrip() for row in self.cells)

    def marked(self, back):
        """Texts of the rows that show letters on this background."""
        return ["".join(c for c, _ in row).strip() for row in self.cells
                if any(b == back and c.isalnum() for c, b in row)]

    def feed(self, text):
        text = self.rest + text
        self.rest = ""
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                self.char(text[at])
                at += 1
                continue
            found = SEQUENCE.match(text, at)
            if not found:
                if len(text) - at > 20:
                    raise ValueError(f"unknown sequence {text[at:at + 20]!r}")
                self.rest = text[at:]
                return
            if found.group(3):
                self.control(*found.groups())
            elif found.group(0)[1] == "M":
                self.up()
            elif found.group(0)[1] == "7":
                self.saved = self.y, self.x
            elif found.group(0)[1] == "8":
                self.y, self.x = self.saved
            at = found.end()

    def char(self, c):
        if c == "\r":
            self.x = 0
        elif c == "\n":
            self.down()
        elif c == "\b":
            self.x = max(self.x - 1, 0)
        elif c == "\t":
            self.x = min(self.x // 8 * 8 + 8, self.cols - 1)
        elif c in "\x0e\x0f":
            self.drawing = c == "\x0e"
        elif c >= " ":
            self.put(LINES.get(c, c) if self.drawing else c)

    def put(self, c):
        if self.x == self.cols:     # the cursor waits behind the last column until there is something to show
            self.x = 0
            self.down()
        row = self.cells[self.y]
        if self.insert:
            row.insert(self.x, (c, self.back))
            row.pop()
        else:
            row[self.x] = (c, self.back)
        self.x += 1

    def blank(self, n):
        return [(" ", self.back)] * n

    def scroll(self, top, n):
        """Rows from top to the region's end: n rows up (down if negative)."""
        for _ in range(abs(n)):
            self.cells.pop(top if n > 0 else self.bottom)
            self.cells.insert(self.bottom if n > 0 else top, self.blank(self.cols))

    def down(self):
        if self.y == self.bottom:
            self.scroll(self.top, 1)
        else:
            self.y = min(self.y + 1, self.rows - 1)

    def up(self):
        if self.y == self.top:
            self.scroll(self.top, -1)
        else:
            self.y = max(self.y - 1, 0)

    def control(self, private, numbers, what):
        args = [int(n or 0) for n in numbers.split(";")]
        n = max(args[0], 1)
        second = max(args[1], 1) if len(args) > 1 else 1
        row = self.cells[self.y]
        if private:
            pass                    # the cursor's looks
        elif what == "H":
            self.y, self.x = min(n, self.rows) - 1, min(second, self.cols) - 1
        elif what == "d":
            self.y = min(n, self.rows) - 1
        elif what in "G`":
            self.x = min(n, self.cols) - 1
        elif what in "AB":
            self.y = min(max(self.y + (n if what == "B" else -n), 0), self.rows - 1)
        elif what in "CD":
            self.x = min(max(self.x + (n if what == "C" else -n), 0), self.cols - 1)
        elif what == "J":
            self.erase_screen(args[0])
        elif what == "K":
            first, last = {0: (self.x, self.cols), 1: (0, self.x + 1), 2: (0, self.cols)}[args[0]]
            row[first:last] = self.blank(last - first)
        elif what == "X":
            row[self.x:self.x + n] = self.blank(min(n, self.cols - self.x))
        elif what == "P":
            row[self.x:] = (row[self.x + n:] + self.blank(self.cols))[:self.cols - self.x]
        elif what == "@":
            row[self.x:] = (self.blank(n) + row[self.x:])[:self.cols - self.x]
        elif what in "LM":
            self.scroll(self.y, n if what == "M" else -n)
        elif what == "r":
            self.top, self.bottom = n - 1, (args[1] if len(args) > 1 and args[1] else self.rows) - 1
            self.y = self.x = 0
        elif what in "hl" and args[0] == 4:
            self.insert = what == "h"
        elif what == "m":
            self.attributes(args)
        elif what == "n" and args[0] == 6:
            self.asked.append(f"\x1b[{self.y + 1};{min(self.x, self.cols - 1) + 1}R")
        elif what not in "nhl":
            raise ValueError(f"unknown sequence ESC [ {private}{numbers} {what}")

    def attributes(self, args):
        for a in args:
            if a in (0, 49):
                self.back = None
            elif 40 <= a <= 47:
                self.back = a - 40

    def erase_screen(self, how):
        rows = {0: range(self.y + 1, self.rows), 1: range(self.y), 2: range(self.rows)}[how]
        for y in rows:
            self.cells[y] = self.blank(self.cols)
        if how != 2:
            self.control("", str(how), "K")


class Terminal:
    """The machine, with a screen on its console. env: for scripts/qemu-run."""

    def __init__(self, rows=24, cols=80, append="quiet"):
        show = subprocess.run([f"{HERE}/qemu-run", "--show", "--append", append], stdout=subprocess.PIPE, check=True, text=True)
        cmd = shlex.split(show.stdout)
        cmd[cmd.index("mon:stdio")] = "stdio"
        self.qemu = subprocess.Popen(cmd + ["-monitor", "none"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.screen = Screen(rows, cols)

    def close(self):
        if self.qemu.poll() is None:
            self.qemu.kill()
        self.qemu.wait()

    def type(self, text):
        self.qemu.stdin.write(text.encode())
        self.qemu.stdin.flush()

    def read(self, seconds):
        """Take in what comes; False when nothing came."""
        if not select.select([self.qemu.stdout], [], [], seconds)[0]:
            return False
        data = os.read(self.qemu.stdout.fileno(), 65536)
        text = data.decode("utf-8", "replace")
        self.screen.feed(text)
        while self.screen.asked:
            self.type(self.screen.asked.pop(0))
        return bool(data)

    def wait(self, condition, limit=SLOW):
        """Read until condition(screen) holds. False: not within the limit."""
        deadline = time.monotonic() + limit
        while not condition(self.screen):
            left = deadline - time.monotonic()
            if left <= 0 or (not self.read(min(left, 1)) and self.qemu.poll() is not None):
                return False
        return True
