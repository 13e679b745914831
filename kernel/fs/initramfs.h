/* SPDX-License-Identifier: MIT */
/* Between the decompressors and the archive reader. */
#ifndef KERNEL_FS_INITRAMFS_H
#define KERNEL_FS_INITRAMFS_H

#include <perch/types.h>

/* Takes the next n bytes of the archive. 0, or -errno: stop. */
typedef int (*sink_fn)(void *arg, const u8 *data, size_t n);

/*
 * Decompress the stream at src and give its contents to sink in pieces. *used: how many bytes of
 * src the stream took. 0, -EINVAL (not such a stream), -EIO (damaged), -ENOMEM, or what sink said.
 */
int gunzip_stream(const u8 *src, size_t n, size_t *used, sink_fn sink, void *arg);
int unzstd_stream(const u8 *src, size_t n, size_t *used, sink_fn sink, void *arg);

#endif
