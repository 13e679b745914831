# SPDX-License-Identifier: MIT
# One that forks: the child's counts are in the sum.
. /demo/common.inc
show loop 100 fork
