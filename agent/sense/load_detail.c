/* What waits where: for a CPU, a disk, a server. Counters only ever grow; where one went back (a disk was
 * taken out, a file system unmounted, a CPU unplugged) there is no reading for that window.
 *
 * A partition follows its disk, and its name is the disk's with a number behind it ("sda1"), or with
 * "p" and a number where the disk's own name ends in a digit ("nvme0n1p1", but not "loop10").
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/load_text.h"

#include <ctype.h>
#include <string.h>

/* ---- CPUs ---- */

/* "cpuN" and nine numbers: the eighth is the time in ns that tasks waited. */
void
load_schedstat_parse(const char *text, struct load_counters *counters)
{
	const char *at = text;

	while ((at = load_find_line(at, "cpu")) != NULL) {
		uint64_t n = 0;
		int field = 0;

		while (isdigit((unsigned char)*at))
			at++;
		while (field < 8 && load_take_number(&at, &n))
			field++;
		if (field < 8)
			break;
		counters->run_wait_ns += n;
		counters->run_wait_cpus++;
	}
	counters->has_run_wait = counters->run_wait_cpus > 0 && at == NULL;
}

void
load_pressure_parse(const char *text, enum load_reading reading, struct load_counters *counters)
{
	size_t i = (size_t)reading - LOAD_PRESSURE_CPU;
	const char *at = load_find_line(text, "some "), *total, *end;

	if (at == NULL)
		return;
	total = strstr(at, "total=");
	end = strchr(at, '\n');
	if (total == NULL || (end != NULL && end < total))
		return;
	total += strlen("total=");
	counters->has_pressure[i] = load_take_number(&total, &counters->pressure_us[i]);
}

/* ---- disks ---- */

/* Compressed memory and files as disks are no disks; dm and md lie on others that count themselves. */
static bool
is_other(const char *name)
{
	static const char *const others[] = { "loop", "ram", "zram", "dm-", "md", "fd", "sr" };

	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
		if (strncmp(name, others[i], strlen(others[i])) == 0)
			return true;
	}
	return false;
}

static bool
is_part_of(const char *name, const char *disk)
{
	size_t n = strlen(disk);

	if (n == 0 || strncmp(name, disk, n) != 0)
		return false;
	name += n;
	if (isdigit((unsigned char)disk[n - 1]) && *name++ != 'p')
		return false;
	return *name != '\0' && strspn(name, "0123456789") == strlen(name);
}

/* "major minor name reads merged sectors ms writes merged sectors ms flight busy_ms ..." */
static bool
disk_line(const char *at, struct load_disk *ret_disk)
{
	uint64_t n[10];
	size_t length;

	if (!load_take_number(&at, &n[0]) || !load_take_number(&at, &n[1]))
		return false;
	at += strspn(at, " ");
	length = strcspn(at, " \n");
	if (length == 0 || length >= DISK_NAME_SIZE)
		return false;
	memcpy(ret_disk->name, at, length);
	ret_disk->name[length] = '\0';
	at += length;
	for (int i = 0; i < 10; i++) {
		if (!load_take_number(&at, &n[i]))
			return false;
	}
	ret_disk->ios = n[0] + n[4];
	ret_disk->wait_ms = n[3] + n[7];
	ret_disk->busy_ms = n[9];
	return true;
}

void
load_diskstats_parse(const char *text, struct load_counters *counters)
{
	counters->ndisks = 0;
	while (text != NULL && *text != '\0' && counters->ndisks < DISKS_MAX) {
		struct load_disk disk;
		size_t n = counters->ndisks;

		if (disk_line(text, &disk) && !is_other(disk.name) &&
		    (n == 0 || !is_part_of(disk.name, counters->disks[n - 1].name)))
			counters->disks[counters->ndisks++] = disk;
		text = strchr(text, '\n');
		text = text != NULL ? text + 1 : NULL;
	}
}

static const struct load_disk *
find_disk(const struct load_counters *counters, const char *name)
{
	for (size_t i = 0; i < counters->ndisks; i++) {
		if (strcmp(counters->disks[i].name, name) == 0)
			return &counters->disks[i];
	}
	return NULL;
}

/* The busiest one's share of the window, and how long each of its requests took. */
static void
disk_difference(const struct load_counters *before, const struct load_counters *after,
    int64_t window_us, struct load *load)
{
	double most = -1, await = -1;

	for (size_t i = 0; i < after->ndisks; i++) {
		const struct load_disk *now = &after->disks[i], *old = find_disk(before, now->name);
		double busy;

		if (old == NULL || now->busy_ms < old->busy_ms || now->ios < old->ios ||
		    now->wait_ms < old->wait_ms)
			continue;
		busy = (double)(now->busy_ms - old->busy_ms) * 1000 / (double)window_us;
		if (busy <= most)
			continue;
		most = busy;
		await = now->ios > old->ios ? (double)(now->wait_ms - old->wait_ms) / 1000 /
						  (double)(now->ios - old->ios)
					    : -1;
	}
	if (most >= 0)
		load_set(load, LOAD_DISK_BUSY, most < 1 ? most : 1, window_us);
	if (await >= 0)
		load_set(load, LOAD_DISK_AWAIT, await, window_us);
}

/* ---- NFS ---- */

/* Behind "per-op statistics": "OP: calls sent timeouts bytes bytes queue_ms rtt_ms execute_ms". */
static void
mount_operations(const char *at, struct load_nfs *nfs)
{
	while ((at = strchr(at, '\n')) != NULL && isspace((unsigned char)*++at)) {
		const char *numbers = at + strcspn(at, ":\n");
		uint64_t n[8];
		int field = 0;

		if (*numbers != ':')
			continue;
		numbers++;
		while (field < 8 && load_take_number(&numbers, &n[field]))
			field++;
		if (field < 8)
			continue;
		nfs->calls += n[0];
		nfs->sent += n[1];
		nfs->execute_ms += n[7];
	}
}

void
load_mountstats_parse(const char *text, struct load_nfs *ret_nfs)
{
	*ret_nfs = (struct load_nfs){ 0 };
	while ((text = load_find_line(text, "\tper-op statistics")) != NULL) {
		ret_nfs->has = true;
		mount_operations(text, ret_nfs);
	}
}

void
load_nfs_difference(const struct load_nfs *before, const struct load_nfs *after, int64_t window_us,
    struct load *load)
{
	double calls = (double)after->calls - (double)before->calls;
	double sent = (double)after->sent - (double)before->sent;
	double ms = (double)after->execute_ms - (double)before->execute_ms;

	if (!before->has || !after->has || window_us <= 0 || calls < 0 || sent < 0 || ms < 0)
		return;
	if (calls > 0)
		load_set(load, LOAD_NFS_LATENCY, ms / 1000 / calls, window_us);
	load_set(load, LOAD_NFS_RETRANSMITS,
	    (sent > calls ? sent - calls : 0) * (double)SECOND_US / (double)window_us, window_us);
}

/* ---- together ---- */

static void
share(uint64_t before, uint64_t after, double whole, int64_t window_us, enum load_reading reading,
    struct load *load)
{
	if (after >= before && whole > 0)
		load_set(load, reading, (double)(after - before) / whole, window_us);
}

void
load_detail_difference(const struct load_counters *before, const struct load_counters *after,
    int64_t window_us, struct load *load)
{
	double window = (double)window_us;

	if (before->has_switches && after->has_switches)
		share(before->switches, after->switches, window / (double)SECOND_US, window_us,
		    LOAD_SWITCHES, load);
	for (size_t i = 0; i < PRESSURES; i++) {
		if (before->has_pressure[i] && after->has_pressure[i])
			share(before->pressure_us[i], after->pressure_us[i], window, window_us,
			    (enum load_reading)(LOAD_PRESSURE_CPU + i), load);
	}
	/* Where the scheduler does not say how long tasks waited: how long one or more of them did. */
	if (before->has_run_wait && after->has_run_wait &&
	    before->run_wait_cpus == after->run_wait_cpus)
		share(before->run_wait_ns, after->run_wait_ns, window * 1000 * after->run_wait_cpus,
		    window_us, LOAD_RUN_WAIT, load);
	else if (load_has(load, LOAD_PRESSURE_CPU))
		load_set(load, LOAD_RUN_WAIT, load->readings[LOAD_PRESSURE_CPU].value, window_us);
	disk_difference(before, after, window_us, load);
}
