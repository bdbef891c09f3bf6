/* Any bytes: a table of locks, or a reason why there is none; never both, and never a zero for a kind that
 * no row told. For libFuzzer:
 *
 *   mkdir corpus && cp tests/fixtures/lock/[a-z]* corpus
 *   clang -g -O1 -std=gnu11 -D_GNU_SOURCE -I. -o fuzz_lock -fsanitize=fuzzer,address,undefined \
 *       tests/fuzz/fuzz_lock.c agent/sense/lock_{slice,table,past,text}.c agent/sense/lock_text_*.c \
 *       proto/base/{err,mem}.c -lm
 *   ./fuzz_lock -max_len=8192 -max_total_time=60 corpus
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <assert.h>
#include <stdint.h>

#include "agent/sense/lock_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes);

static void
check(const struct lock_table *table)
{
	int64_t spin = 0, sleep = 0;

	assert((table->missing[0] != '\0') == (!table->has_spin && !table->has_sleep));
	assert(table->missing[0] == '\0' || table->nrows == 0);
	assert(table->has_spin || (table->spin_count == 0 && table->spin_ns == 0));
	assert(table->has_sleep || (table->sleep_count == 0 && table->sleep_ns == 0));
	assert(table->spin_count >= 0 && table->sleep_count >= 0 && table->nrows <= LOCK_ROWS_MAX);
	for (size_t i = 0; i < table->nrows; i++) {
		const struct lock_row *row = &table->rows[i];

		assert(row->count >= 0 && row->wait_ns >= 0);
		assert(i == 0 || table->rows[i - 1].wait_ns >= row->wait_ns);
		*(row->kind == LOCK_SPIN ? &spin : &sleep) |= row->wait_ns;
	}
	assert((spin == 0 || table->has_spin) && (sleep == 0 || table->has_sleep));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
	struct lock_past *past = NULL;
	struct lock_table table;

	lock_text_parse((const char *)bytes, nbytes, 24, SECOND_US, &table);
	check(&table);
	lock_table_clear(&table);
	for (int i = 0; i < 2; i++) {
		lock_text_parse_since((const char *)bytes, nbytes, 24, SECOND_US, &past, &table);
		check(&table);
		lock_table_clear(&table);
	}
	lock_past_destroy(past);
	return 0;
}
