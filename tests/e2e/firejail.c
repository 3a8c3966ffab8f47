/* sbx-exec with --backend firejail, for test files that call $sbx_exec.  Static,
 * so that no hook of a loader fires here. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char name[] = "sbx-exec", option[] = "--backend", backend[] = "firejail";
	char *args[1024] = { name, option, backend }, path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 32);

	if (length < 0 || argc > 1000)
		return 99;
	path[length] = '\0';
	for (int up = 0; up < 2; up++)
		*strrchr(path, '/') = '\0';
	strcat(path, "/sbx/build/sbx-exec");
	for (int i = 1; i <= argc; i++)
		args[i + 2] = argv[i];
	execv(path, args);
	perror(path);
	return 99;
}
