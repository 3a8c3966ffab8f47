/* Tries from inside what no policy of tests/races allows, and says what it could do.
 *
 *	probe WORD...
 *
 *	settle      first waits for the masks that were lifted while the sandbox was
 *	            made: until all has been shut for a while, and 2 seconds at most
 *	walk:DIR    reads every file beneath, and looks for the secret
 *	read:NAME   reads this one
 *	held:NAME   writes, makes, replaces it, and its directories
 *	shut:NAME   the same, of what is outside
 *
 * Says `started` once it runs and waits for a line; at the end says `done`.
 * Between them, a line for each thing that it could do: `read NAME`, `wrote NAME`. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECRET "SECRET-7391"
#define MARK   "PROBE-WAS-HERE\n"
enum { NAMES_MAX = 4000, PATH_SIZE = 1024, DEPTH_MAX = 12 };

static unsigned names;
static char own[PATH_SIZE]; /* the workspace */

static int has_secret(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char text[4097] = "";
	ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	return size > 0 && memmem(text, (size_t)size, SECRET, strlen(SECRET));
}

static void try_read(const char *path)
{
	if (has_secret(path))
		printf("read %s\n", path);
}

static void walk(const char *path, unsigned depth)
{
	char name[PATH_SIZE];
	struct dirent *entry;
	struct stat st;
	DIR *dir;

	if (names++ > NAMES_MAX || depth > DEPTH_MAX || stat(path, &st))
		return;
	if (!S_ISDIR(st.st_mode)) {
		try_read(path);
		return;
	}
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    snprintf(name, sizeof(name), "%s/%s", path, entry->d_name) < PATH_SIZE)
			walk(name, depth + 1);
	if (dir)
		closedir(dir);
}

static int write_mark(const char *path, int flags)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags, 0644);
	int done = fd >= 0 && write(fd, MARK, strlen(MARK)) > 0;

	if (fd >= 0)
		close(fd);
	return done;
}

/* Nothing is changed yet: could it be? */
static int is_open(const char *path)
{
	struct stat st;
	int fd;

	if (lstat(path, &st))
		return errno == ENOENT;
	if (S_ISDIR(st.st_mode) && !access(path, W_OK | X_OK)) /* a mask is read-only, or shut */
		return 1;
	fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0 || has_secret(path);
}

/* Shut for 20 rounds: whoever follows several swaps lays one mask more than once, and on a
 * busy machine not at once. */
static void settle(int count, char **words)
{
	const struct timespec pause = { 0, 5000000 };
	unsigned waited = 0;

	for (unsigned shut = 0; shut < 20 && waited < 400;) {
		unsigned open = 0;

		for (int i = 0; i < count; i++)
			open |= !strncmp(words[i], "held:", 5) && is_open(words[i] + 5);
		shut = open ? 0 : shut + 1;
		waited += open;
		nanosleep(&pause, NULL);
	}
	if (waited)
		printf("waited %u ms\n", waited * 5);
}

static void could(const char *how, const char *path)
{
	printf("wrote %s (%s)\n", path, how);
}

static void try_write(const char *path)
{
	char aside[PATH_SIZE + 16], beneath[PATH_SIZE + 16];

	snprintf(aside, sizeof(aside), "%s/probe-aside", own);
	snprintf(beneath, sizeof(beneath), "%s/probe", path);
	if (write_mark(path, 0))
		could("written", path);
	if (write_mark(path, O_CREAT))
		could("made", path);
	if (write_mark(beneath, O_CREAT))
		could("made beneath", path);
	if (!truncate(path, 0))
		could("cut", path);
	write_mark(aside, O_CREAT);
	if (!rename(aside, path))
		could("replaced", path);
	else if (!link(aside, path))
		could("linked", path);
	else if (!symlink(aside, path))
		could("link made", path);
	else if (!mkdir(path, 0755))
		could("directory made", path);
	unlink(aside);
	if (!rename(path, aside)) {
		could("moved away", path);
		rename(aside, path);
	}
}

/* The directories above it, below the workspace. */
static void try_parents(const char *path)
{
	char parent[PATH_SIZE], aside[PATH_SIZE + 16];
	char *slash;

	snprintf(parent, sizeof(parent), "%s", path);
	snprintf(aside, sizeof(aside), "%s/probe-parent", own);
	while ((slash = strrchr(parent, '/'))) {
		*slash = '\0';
		if (strlen(parent) <= strlen(own))
			return;
		if (!rename(parent, aside)) {
			could("moved away", parent);
			rename(aside, parent);
		}
	}
}

static void try_word(const char *word)
{
	const char *name = strchr(word, ':');

	if (!name++)
		return;
	switch (*word) {
	case 'w':
		names = 0;
		walk(name, 0);
		break;
	case 'r':
		try_read(name);
		break;
	case 'h':
		try_parents(name);
		try_write(name);
		break;
	case 's':
		try_write(name);
		break;
	}
}

int main(int argc, char **argv)
{
	char line[16];

	if (!getcwd(own, sizeof(own))) /* it is nowhere any more */
		strcpy(own, ".");
	setlinebuf(stdout);
	puts("started");
	if (!fgets(line, sizeof(line), stdin))
		return 97;
	if (argc > 1 && !strcmp(argv[1], "settle"))
		settle(argc - 1, argv + 1);
	for (int i = 1; i < argc; i++)
		try_word(argv[i]);
	write_mark("probe-ok", O_CREAT);
	puts("done");
	return 7;
}
