# SPDX-License-Identifier: MIT
# A shell pipeline: processes that come and go, and sleep.
. /demo/common.inc
show sh -c 'seq 1 20000 | sort -n | sed s/7/x/ | wc -l'
