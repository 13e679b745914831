/* SPDX-License-Identifier: MIT */
#include "internal.h"
void epoll_file_gone(struct file *f) { }
