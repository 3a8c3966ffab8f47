/*
 * chaperon/words.c - see words.h.
 *
 * Outside a session they would stand in the job's own output: that it was cancelled, ran
 * out of memory, or could not begin.  They lie beside the envelope, where nothing inside
 * reads or writes.
 */
#include "chaperon/words.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORDS_MAX 4096

/* The last bytes of the file, from the beginning of a line on; "": there is none. */
static void read_end(const char *path, char text[WORDS_MAX + 1])
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat status;
	ssize_t got = 0;
	char *line;

	if (fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode)) {
		off_t from = status.st_size > WORDS_MAX ? status.st_size - WORDS_MAX : 0;

		got = pread(fd, text, WORDS_MAX, from);
		line = from && got > 0 ? memchr(text, '\n', (size_t)got) : NULL;
		if (line) {
			got -= line + 1 - text;
			memmove(text, line + 1, (size_t)got);
		}
	}
	text[got > 0 ? got : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

void words_show(struct client *client, const char *tag, uint32_t job)
{
	char path[4300], text[WORDS_MAX + 1];

	snprintf(path, sizeof(path), "%.4000s/%s/slurm-%u.out", client->server->session->jobs, tag,
		 job);
	read_end(path, text);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		client_say(client, "sbx: of job %u: %s", job, line);
}
