/* kallsyms.h - the kernel's symbols, one after the other
 *
 * Shape:  a stream; nothing is kept. The kernel's own functions come in the order of their
 *         addresses, those of modules behind them in no order.
 * Units:  addresses of the running kernel.
 * Errors: a sentence that names the sysctl when the kernel hides its addresses.
 * Memory: a buffer on the stack; a symbol is borrowed for the call. Safe in the child of a
 *         process with threads: it takes no lock and allocates nothing.
 * Source: proc(5) /proc/kallsyms; Documentation/admin-guide/sysctl/kernel.rst, kptr_restrict.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_KALLSYMS_H
#define FLYBALL_KALLSYMS_H

#include <stdint.h>

#include "proto/base/err.h"

/* type: as nm(1) has it. */
typedef void (*kallsyms_f)(void *arg, uint64_t address, char type, const char *name);

int kallsyms_read(kallsyms_f f, void *arg, struct err *err);

/* The number a sysctl's file holds; -1 when it cannot be read. */
int32_t sysctl_number(const char *path);

#endif
