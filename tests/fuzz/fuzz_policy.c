/* Any text: refused by a sentence that a terminal can show, or taken; what was taken is printed in a
 * form that parses back to the same. For libFuzzer:
 *
 *   clang -g -O1 -std=gnu11 -D_GNU_SOURCE -I. -o fuzz_policy -fsanitize=fuzzer,address,undefined \
 *       tests/fuzz/fuzz_policy.c coordinator/io/policy_*.c coordinator/core/{codec,fields,policy}.c \
 *       proto/base/{conf,conf_lint,err,mem,near}.c proto/wire_text.c -lconfuse
 *   mkdir corpus && cp tests/conf/[bg]*.policy corpus
 *   ./fuzz_policy -max_len=2048 -max_total_time=60 -dict=tests/fuzz/policy.dict corpus
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/io/policy_file.h"
#include "proto/base/mem.h"
#include "proto/wire_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes);

static void
check_policy(const struct policy *policy)
{
	struct policy_list list = { 0 };
	struct text t = { 0 };
	struct err err = { "" };
	int rc;

	policy_print(policy, &t);
	rc = policy_parse("printed", t.text, NULL, 0, &list, &err);
	assert(rc == 0 && list.n == 1 && policy_equal(policy, list.list[0]));
	(void)rc;
	policy_list_clear(&list);
	free(t.text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t nbytes)
{
	char *text = mem_calloc(nbytes + 1, 1);
	struct policy_list list = { 0 };
	struct err err = { "" };
	size_t i;

	if (nbytes > 0)
		memcpy(text, bytes, nbytes);
	if (policy_parse("fuzz", text, NULL, 0, &list, &err) != 0) {
		assert(strncmp(err.text, "fuzz:", 5) == 0 && err.text[5] != '\0');
		assert(wire_text_ok(err.text) && list.list == NULL);
	}
	for (i = 0; i < list.n; i++)
		check_policy(list.list[i]);
	policy_list_clear(&list);
	free(text);
	return 0;
}
