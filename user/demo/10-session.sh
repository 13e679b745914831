# SPDX-License-Identifier: MIT
# A few lines of shell: what every later demo stands on.
echo "# uname -srm"; uname -srm
echo "# nproc; free -m"; nproc; free -m
echo "# ls / | tr '\\n' ' '"; ls / | tr '\n' ' '; echo
echo "# seq 1 1000 | awk '{ s += \$1 } END { print s }'"
[ "$(seq 1 1000 | awk '{ s += $1 } END { print s }' | tee /dev/stderr)" = 500500 ]
