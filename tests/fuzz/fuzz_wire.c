/* Any bytes: refused in words, or read; what was read can be sent, and reads the same
 * again. For libFuzzer:
 *
 *   make build/gcc/tests/unit/proto_wire
 *   mkdir corpus && FLYBALL_CORPUS=corpus build/gcc/tests/unit/proto_wire
 *   clang -g -O1 -std=gnu11 -D_GNU_SOURCE -I. -Ibuild/gcc/gen -o fuzz_wire \
 *       -fsanitize=fuzzer,address,undefined tests/fuzz/fuzz_wire.c proto/wire*.c \
 *       proto/message.c proto/base/{err,mem}.c build/gcc/gen/proto/flyball.pb-c.c -lprotobuf-c
 *   ./fuzz_wire -max_len=8192 -max_total_time=60 corpus
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes);

static uint8_t *
send_again(const struct message *m, size_t *ret_nbytes)
{
	struct err err = { "" };
	uint8_t *bytes = NULL;
	int rc = wire_encode(m, &bytes, ret_nbytes, &err);

	assert(rc == 0);
	(void)rc;
	return bytes;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
	struct err err = { "" };
	struct message m, back;
	uint8_t *first, *second;
	size_t nfirst, nsecond;

	if (wire_decode(bytes, nbytes, OPERATOR_MESSAGE_BYTES, &m, &err) != 0) {
		assert(err.text[0] != '\0');
		return 0;
	}
	first = send_again(&m, &nfirst);
	assert(wire_decode(first, nfirst, OPERATOR_MESSAGE_BYTES, &back, &err) == 0);
	second = send_again(&back, &nsecond);
	assert(nfirst == nsecond && memcmp(first, second, nfirst) == 0);
	free(first);
	free(second);
	message_clear(&m);
	message_clear(&back);
	return 0;
}
