# SPDX-License-Identifier: MIT
# For the scripts of scripts/run-verdicts: runs a program that tests itself and prints what it printed behind a line
# "=== KIND NAME", and its status.

section() { # section SECONDS KIND NAME COMMAND...: in one piece, so that no kernel message cuts a line
	limit=$1 kind=$2 name=$3
	shift 3
	setsid timeout -s KILL "$limit" "$@" </dev/null >/tmp/section 2>&1
	status=$?
	echo "=== $kind $name"
	tail -n 200 /tmp/section
	echo
	echo "--- exit $status"
}
