/*
 * The launcher's readers of small texts: files of /proc, passwd, a mount table, the
 * broker's devices, numbers; and what it prints of any bytes.
 */
#include "tests/fuzz/launcher.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "stub/launch.h"
#include "stub/proc.h"

/* The two that have readers of their own. */
#include "stub/user.c"
#define add firejail_add
#include "stub/firejail_profile.c"
#undef add

struct input {
	const uint8_t *data;
	size_t size;
	char *text; /* the same, ended by NUL */
};

static int file_of(const struct input *in)
{
	int fd = memfd_create("text", MFD_CLOEXEC);

	size_t length = strlen(in->text);

	if (write(fd, in->text, length) != (ssize_t)length || lseek(fd, 0, SEEK_SET))
		fuzz_fault("no file");
	return fd;
}

/* A reference of one line: name:x:uid:gid:gecos:home:shell. */
static void check_passwd(const struct input *in)
{
	struct entry entry = { .asked = true };
	int fd = file_of(in);

	if (parse_stream(fd, 1000, &entry)) {
		if (!*entry.name || *entry.home != '/' || strpbrk(entry.name, ":\n") ||
		    strpbrk(entry.home, ":\n"))
			fuzz_fault("passwd: '%s', '%s'", entry.name, entry.home);
	} else if (entry.name || entry.home) {
		fuzz_fault("passwd: half an entry");
	}
	close(fd);
}

static void check_numbers(const struct input *in)
{
	const char *end;
	unsigned long long value = out_read_number(in->text, &end);

	if (end < in->text || end > in->text + strspn(in->text, "0123456789"))
		fuzz_fault("a number ends at %td", end - in->text);
	if (end == in->text ? value : value != strtoull(in->text, NULL, 10))
		fuzz_fault("'%s' was read as %llu", in->text, value);
	proc_number(in->text, "\nTgid:", 10);
	proc_number(in->text, "\nSigBlk:", 16);
}

/* A line at a time, as the kernel writes the mount table. */
static void check_mounts(const struct input *in)
{
	char *at = mem_string(in->text);
	struct proc_mount mount;

	while (proc_next_mount(&at, &mount))
		firejail_can_name(mount.path);
}

/* Escaped, it is all printable, and as long as four times the bytes at most. */
static void check_printed(const struct input *in)
{
	const char *all = out_string("%s", in->text);
	char cut[16];

	if (strlen(all) > 4 * strlen(in->text))
		fuzz_fault("longer than it can be");
	out_print(STDERR_FILENO, "%s%.*s\n", in->text, (int)(in->size % 8), in->text);
	if (out_text(cut, sizeof(cut), "%s", in->text) >= sizeof(cut) ||
	    strncmp(cut, all, strlen(cut)))
		fuzz_fault("cut, it is another text");
}

static void read_text(void *data)
{
	struct input *in = data;

	in->text = mem_copy((const char *)in->data, in->size);
	check_passwd(in);
	check_numbers(in);
	check_mounts(in);
	check_printed(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size, NULL };

	if (launcher_run(read_text, &in) >= 0)
		fuzz_fault("it refused");
	return 0;
}
