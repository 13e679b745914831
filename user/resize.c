/* SPDX-License-Identifier: MIT */
/*
 * resize: asks the terminal how large it is and tells the kernel. A serial line has no other way to know that somebody
 * changed the size of the window that shows it. The cursor goes as far down and right as it can; where it ended is the
 * size. Without an answer within two seconds nothing changes.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

/* Save the cursor; whole screen as scroll region; far away; where is it? */
static const char question[] = "\0337\033[r\033[999;999H\033[6n";
static const char restore[] = "\0338";

/* The answer, "ESC [ rows ; columns R", behind whatever was typed meanwhile. */
static int read_answer(unsigned *rows, unsigned *cols)
{
	char buf[128];
	size_t n = 0;

	while (n < sizeof(buf) - 1) {
		struct pollfd p = { .fd = 0, .events = POLLIN };
		char *esc;

		if (poll(&p, 1, 2000) <= 0 || read(0, buf + n, 1) != 1)
			return -1;
		buf[++n] = '\0';
		esc = strrchr(buf, '\033');
		if (buf[n - 1] == 'R' && esc && sscanf(esc, "\033[%u;%uR", rows, cols) == 2)
			return 0;
	}
	return -1;
}

int main(void)
{
	struct termios old, raw;
	struct winsize size = { 0 };
	unsigned rows, cols;
	int err;

	if (tcgetattr(0, &old)) {
		perror("resize: standard input");
		return 1;
	}
	raw = old;
	raw.c_lflag &= ~(ICANON | ECHO | ISIG);
	tcsetattr(0, TCSAFLUSH, &raw);
	err = write(2, question, sizeof(question) - 1) < 0 || read_answer(&rows, &cols);
	err |= write(2, restore, sizeof(restore) - 1) < 0;
	tcsetattr(0, TCSADRAIN, &old);
	if (err) {
		fprintf(stderr, "resize: the terminal does not answer\n");
		return 1;
	}
	size.ws_row = rows;
	size.ws_col = cols;
	if (ioctl(0, TIOCSWINSZ, &size)) {
		perror("resize: TIOCSWINSZ");
		return 1;
	}
	printf("%u rows, %u columns\n", rows, cols);
	return 0;
}
