/* Calls by which kernels are taken over.  The arguments harm nobody: an error about
 * them says that the call got through. */
#include "tests/escape/attack.h"

#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <fcntl.h>
#include <sys/syscall.h>

#define NOWHERE ((void *)1)
#define HIGH    (1ul << 32)

static long reached(long result)
{
	return result < 0 && errno != EPERM && errno != ENOSYS && errno != EACCES ? 0 : result;
}

static long counter(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_TASK_CLOCK,
					.exclude_kernel = 1,
					.exclude_hv = 1 };

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

static long filter(unsigned long high)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1
	};

	return syscall(SYS_bpf, BPF_MAP_CREATE | high, &attr, sizeof(attr));
}

int main(void)
{
	ALONE("bpf", filter(0));
	ALONE("bpf-wide", filter(HIGH));
	ALONE("perf-event-open", counter());
	ALONE("userfaultfd", syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY));
	ALONE("userfaultfd-kernel", syscall(SYS_userfaultfd, 0));
	ALONE("open-by-handle-at", reached(syscall(SYS_open_by_handle_at, AT_FDCWD, NOWHERE, 0)));
	ALONE("init-module", reached(syscall(SYS_init_module, NOWHERE, 1, NOWHERE)));
	ALONE("finit-module", reached(syscall(SYS_finit_module, -1, NOWHERE, 0)));
	ALONE("delete-module", reached(syscall(SYS_delete_module, NOWHERE, O_NONBLOCK)));
	ALONE("kexec-load", reached(syscall(SYS_kexec_load, 0, ~0ul, NOWHERE, 0)));
	ALONE("kexec-file-load", reached(syscall(SYS_kexec_file_load, -1, -1, 0, NULL, 0)));
	ALONE("lookup-dcookie", reached(syscall(SYS_lookup_dcookie, 0, NOWHERE, 0)));
	return 0;
}
