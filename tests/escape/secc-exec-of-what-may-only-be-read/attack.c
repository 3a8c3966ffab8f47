/* A program that may be read and not run. */
#include "tests/escape/attack.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static char tool[4096], script[4096];
static char *const arguments[] = { tool, NULL }, *const environment[] = { NULL };

/* Runs @run in a child: 0 when what it executes ends well, else errno. */
#define TRY(variant, run)                                                                          \
	do {                                                                                       \
		pid_t child_ = fork();                                                             \
		int status_ = 0;                                                                   \
		if (child_ == 0) {                                                                 \
			run;                                                                       \
			_exit(errno);                                                              \
		}                                                                                  \
		waitpid(child_, &status_, 0);                                                      \
		errno = WIFEXITED(status_) ? WEXITSTATUS(status_) : EINTR;                         \
		outcome(variant, errno ? -1 : 0);                                                  \
	} while (0)

static void by_loader(const char *loader)
{
	char *const words[] = { (char *)(size_t)loader, tool, NULL };

	execve(loader, words, environment);
}

static void by_shell(void)
{
	char *const words[] = { (char *)(size_t) "sh", script, NULL };

	execve("/bin/sh", words, environment);
}

static int copied(void)
{
	int from = open(tool, O_RDONLY), to = memfd_create("x", MFD_CLOEXEC);
	struct stat st;

	if (from < 0 || to < 0 || fstat(from, &st))
		return -1;
	while (sendfile(to, from, NULL, (size_t)st.st_size) > 0)
		;
	return to;
}

/* By a name, since a loader reads it again. */
static void copy_by_name(void)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", copied());
	execve(name, arguments, environment);
}

static void mapped(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, open(tool, O_RDONLY), 0);

	errno = page == MAP_FAILED ? errno : 0;
}

static void into_workspace(void)
{
	int from = open(tool, O_RDONLY), to = open("copy", O_CREAT | O_WRONLY, 0700);
	struct stat st;

	if (from < 0 || to < 0 || fstat(from, &st))
		return;
	while (sendfile(to, from, NULL, (size_t)st.st_size) > 0)
		;
	close(to);
	execve("./copy", arguments, environment);
}

int main(void)
{
	char *home = getenv("HOME");

	snprintf(tool, sizeof(tool), "%s/tools/tool", home);
	snprintf(script, sizeof(script), "%s/tools/script", home);
	TRY("execve", execve(tool, arguments, environment));
	TRY("script", execve(script, arguments, environment));
	TRY("execveat-directory",
	    syscall(SYS_execveat, open(home, O_PATH), "tools/tool", arguments, environment, 0));
	TRY("execveat-descriptor",
	    syscall(SYS_execveat, open(tool, O_RDONLY), "", arguments, environment, AT_EMPTY_PATH));
	TRY("execveat-path-descriptor",
	    syscall(SYS_execveat, open(tool, O_PATH), "", arguments, environment, AT_EMPTY_PATH));
	TRY("fexecve", fexecve(open(tool, O_RDONLY), arguments, environment));
	TRY("proc-descriptor",
	    (dup2(open(tool, O_RDONLY), 9), execve("/proc/self/fd/9", arguments, environment)));
	TRY("as-interpreter", execve("./by-interpreter", arguments, environment));
	TRY("by-name-in-workspace",
	    (symlink(tool, "link"), execve("./link", arguments, environment)));
	TRY("loader", by_loader("/lib64/ld-linux-x86-64.so.2"));
	TRY("shell", by_shell());
	TRY("memory-copy",
	    syscall(SYS_execveat, copied(), "", arguments, environment, AT_EMPTY_PATH));
	TRY("memory-copy-by-name", copy_by_name());
	TRY("mapped", mapped());
	TRY("workspace-copy", into_workspace());
	return 0;
}
