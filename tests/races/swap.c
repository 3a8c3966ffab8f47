/* Swaps names without pause: the other side of tests/races/swaps.py.
 *
 *	swap SEED LIST
 *
 * A line of LIST is `CLASS HOW NAME OTHER`:
 *
 *	exchange  NAME and OTHER change places, and again
 *	away      NAME goes to OTHER and comes back
 *	fresh     the same, and an empty directory has the name meanwhile
 *	relink    NAME gets another hard link, OTHER, which takes its place
 *	link      NAME, which is absent, is a link to OTHER for a while
 *	dir, fifo, socket, file    ... or one of these
 *
 * Reads letters: `a` swaps all, `b` those of class b alone, `s` stops, which is
 * answered with a line once each name is what it was.  A swap lasts from nothing
 * to some milliseconds, so that a launch is met between two of its calls, and
 * also sees one lie all the time. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { SWAPS_MAX = 256 };
static struct swap {
	char class[4], how[16], name[256], other[256];
} swaps[SWAPS_MAX];
static unsigned count;
static uint64_t seed;

static unsigned pick(unsigned below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed % below);
}

static void linger(void)
{
	static const long least[] = { 0, 0, 0, 20000, 200000, 2000000, 8000000 };
	struct timespec pause = { 0, least[pick(7)] };

	if (pause.tv_nsec)
		nanosleep(&pause, NULL);
}

static void make_socket(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%.100s", name);
	bind(fd, (struct sockaddr *)&address, sizeof(address));
	close(fd);
}

static void make(const struct swap *s)
{
	if (*s->how == 'l')
		(void)!symlink(s->other, s->name);
	else if (*s->how == 'd')
		mkdir(s->name, 0755);
	else if (!strcmp(s->how, "fifo"))
		mkfifo(s->name, 0644);
	else if (*s->how == 's')
		make_socket(s->name);
	else
		close(open(s->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644));
}

/* Only where nothing is, and only what was made is removed again. */
static void appear(const struct swap *s)
{
	struct stat made, now;

	if (!lstat(s->name, &now))
		return;
	make(s);
	if (lstat(s->name, &made) || made.st_mode & S_ISVTX)
		return;
	linger();
	if (!lstat(s->name, &now) && now.st_ino == made.st_ino && unlinkat(AT_FDCWD, s->name, 0))
		unlinkat(AT_FDCWD, s->name, AT_REMOVEDIR);
}

/* What took the name meanwhile goes. */
static void come_back(const struct swap *s)
{
	if (!renameat2(AT_FDCWD, s->other, AT_FDCWD, s->name, RENAME_NOREPLACE))
		return;
	renameat2(AT_FDCWD, s->other, AT_FDCWD, s->name, RENAME_EXCHANGE);
	if (unlink(s->other))
		rmdir(s->other);
}

/* And back, also where one of the two went meanwhile. */
static void exchange(const struct swap *s)
{
	if (renameat2(AT_FDCWD, s->name, AT_FDCWD, s->other, RENAME_EXCHANGE))
		return;
	linger();
	if (renameat2(AT_FDCWD, s->name, AT_FDCWD, s->other, RENAME_EXCHANGE))
		renameat2(AT_FDCWD, s->other, AT_FDCWD, s->name, RENAME_NOREPLACE);
}

static void go_away(const struct swap *s, bool fresh)
{
	if (renameat2(AT_FDCWD, s->name, AT_FDCWD, s->other, RENAME_NOREPLACE))
		return;
	if (fresh)
		mkdir(s->name, 0755);
	linger();
	if (fresh)
		rmdir(s->name);
	come_back(s);
}

/* rename(2) does nothing to two links of one file. */
static void relink(const struct swap *s)
{
	char third[sizeof(s->other) + 8];

	snprintf(third, sizeof(third), "%s-third", s->other);
	if (linkat(AT_FDCWD, s->name, AT_FDCWD, s->other, 0))
		return;
	linger();
	if (!rename(s->name, third))
		rename(s->other, s->name);
	linger();
	unlink(third);
	unlink(s->other);
}

static void swap(const struct swap *s)
{
	if (!strcmp(s->how, "exchange"))
		exchange(s);
	else if (!strcmp(s->how, "relink"))
		relink(s);
	else if (!strcmp(s->how, "away") || !strcmp(s->how, "fresh"))
		go_away(s, *s->how == 'f');
	else
		appear(s);
}

static void read_list(const char *path)
{
	FILE *file = fopen(path, "r");

	while (file && count < SWAPS_MAX &&
	       fscanf(file, "%3s %15s %255s %255s", swaps[count].class, swaps[count].how,
		      swaps[count].name, swaps[count].other) == 4)
		count++;
	if (file)
		fclose(file);
}

int main(int argc, char **argv)
{
	struct pollfd in = { 0, POLLIN, 0 };
	unsigned long done = 0;
	char mode = 's';

	if (argc < 3)
		return 99;
	seed = strtoull(argv[1], NULL, 10) | 1;
	read_list(argv[2]);
	if (!count)
		return 98;
	for (;;) {
		const struct swap *s;

		if (poll(&in, 1, mode == 's' ? -1 : 0) > 0) {
			if (read(0, &mode, 1) != 1)
				return 0;
			if (mode == 's') {
				printf("%lu\n", done);
				fflush(stdout);
			}
			continue;
		}
		s = &swaps[pick(count)];
		if (mode == 'a' || *s->class == mode) {
			swap(s);
			done++;
		}
	}
}
