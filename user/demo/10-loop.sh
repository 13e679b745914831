# SPDX-License-Identifier: MIT
# A program that computes.
. /demo/common.inc
show loop 100
