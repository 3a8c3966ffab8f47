/*
 * chaperon/shown.c - see shown.h.
 *
 * A tag is found in the text by what it looks like and by the record.  So it must not be
 * cut: a column of comments is asked for as wide as one, and what is cut all the same (a
 * whole command line, of sacct) is taken for what it begins.
 */
#include "chaperon/shown.h"

#include "blob/job_wire.h"
#include "chaperon/command.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define TAG_LENGTH   36
#define TAG_LEAST    12 /* of one that is cut: less is anybody's word */
#define ENVELOPE_MAX (4u << 20)
#define HEX          "0123456789abcdef"

/* ---- columns -------------------------------------------------------------------------- */

/* The width at @at, of digits; what stands behind it comes back. */
static const char *read_width(const char *at, unsigned long *width)
{
	*width = strtoul(at, NULL, 10);
	return at + strspn(at, "0123456789");
}

static unsigned long widen(unsigned long width)
{
	return width < TAG_LENGTH ? TAG_LENGTH : width;
}

/* `squeue --format`: %[[.]SIZE]k is the comment. */
static enum shown_column widen_signs(const char *list, char *out, size_t size)
{
	size_t length = 0;
	enum shown_column column = SHOWN_AS_IS;

	for (const char *at = list; *at && length + 16 < size;) {
		const char *dot = at + 1, *behind;
		unsigned long width;

		if (*at != '%') {
			out[length++] = *at++;
			continue;
		}
		behind = read_width(dot + (*dot == '.'), &width);
		if (*behind == 'k' && behind > dot) {
			length += (size_t)snprintf(out + length, size - length, "%%%s%luk",
						   *dot == '.' ? "." : "", widen(width));
			at = behind + 1;
			column = *dot == '.' ? SHOWN_RIGHT : SHOWN_LEFT;
		} else {
			out[length++] = *at++;
			if (*at) /* %% */
				out[length++] = *at++;
		}
	}
	out[length] = '\0';
	return column;
}

/* `squeue --Format` NAME[:[.]SIZE[SUFFIX]], @mark ':'; `sacct --format` NAME[%[-]SIZE],
 * whose names may be cut, @mark '%'. */
static enum shown_column widen_names(const char *list, char mark, char *out, size_t size)
{
	size_t length = 0;
	enum shown_column column = SHOWN_AS_IS;

	for (const char *at = list; *at && length + 32 < size;) {
		size_t item = strcspn(at, ","), name = strcspn(at, ",:%"), turned = 0;
		const char *sign = at + name + (name < item), *behind;
		unsigned long width;

		if (strncasecmp(at, "comment", name) != 0 ||
		    name < (mark == ':' ? strlen("comment") : 3)) {
			length += (size_t)snprintf(out + length, size - length, "%.*s",
						   (int)item, at);
		} else {
			turned = name < item && *sign && strchr(".-", *sign);
			behind = read_width(sign + turned, &width);
			length += (size_t)snprintf(out + length, size - length,
						   "comment%c%.*s%lu%.*s", mark, (int)turned, sign,
						   name < item ? widen(width) : TAG_LENGTH,
						   name < item ? (int)(at + item - behind) : 0, behind);
			column = (mark == ':') == turned ? SHOWN_RIGHT : SHOWN_LEFT;
		}
		at += item;
		if (*at == ',' && length + 1 < size)
			out[length++] = *at++;
	}
	out[length < size ? length : size - 1] = '\0';
	return column;
}

static bool has_word(const struct strings *line, const char *word)
{
	for (size_t i = 0; i < line->count; i++)
		if (!strcmp(line->items[i], word))
			return true;
	return false;
}

void shown_widen(struct client *client)
{
	static const char names[] = "--Format=", format[] = "--format=";
	bool sacct = !strcmp(client->command->name, "sacct");
	struct strings *line = &client->line;

	if (sacct && (has_word(line, "--parsable") || has_word(line, "--parsable2")))
		return; /* as long as they are */
	for (size_t i = 0; i < line->count; i++) {
		const char *text = line->items[i];
		enum shown_column column;
		char wide[8192];
		size_t length = 0;

		if (!strncmp(text, names, strlen(names)) || !strncmp(text, format, strlen(format)))
			length = strlen(names);
		/* "com" becomes "comment%36", and nothing grows by more. */
		if (!length || strlen(text) > sizeof(wide) / 4)
			continue;
		memcpy(wide, text, length);
		column = !sacct && !strncmp(text, format, strlen(format))
			     ? widen_signs(text + length, wide + length, sizeof(wide) - length)
			     : widen_names(text + length, sacct ? '%' : ':', wide + length,
					   sizeof(wide) - length);
		if (column != SHOWN_AS_IS)
			client->column = column;
		free(line->items[i]);
		line->items[i] = strdup(wide);
		line->broken |= !line->items[i];
	}
}

/* ---- comments --------------------------------------------------------------------------- */

struct text {
	struct client *client;
	const char *at;
	size_t size, from; /* @from: not copied yet */
	struct evbuffer *out;
};

/* What stands before @at is as it was. */
static void copy_until(struct text *text, size_t at)
{
	evbuffer_add(text->out, text->at + text->from, at - text->from);
	text->from = at;
}

/* The job whose tag stands at @at, or the beginning of it: *length bytes. */
static const struct job *tag_at(const struct text *text, size_t at, size_t *length)
{
	const struct record *record = text->client->server->record;
	char tag[JOB_TAG_SIZE] = "";
	size_t left = text->size - at, most = left < TAG_LENGTH ? left : TAG_LENGTH;

	if (most < TAG_LEAST || memcmp(text->at + at, "sbx-", 4) != 0)
		return NULL;
	memcpy(tag, text->at + at, most);
	*length = 4 + strspn(tag + 4, HEX);
	tag[*length] = '\0';
	if (*length == TAG_LENGTH)
		return record_tagged(record, tag);
	for (size_t i = record->count; *length >= TAG_LEAST && i; i--)
		if (!strncmp(record->jobs[i - 1].tag, tag, *length))
			return &record->jobs[i - 1];
	return NULL;
}

static char char_at(const struct text *text, size_t at)
{
	return at < text->size ? text->at[at] : '\n';
}

/* How many blanks beyond @at (@step 1 or -1) are the column's own: all but the one that
 * parts it from the next, if there is a next. */
static size_t blanks(const struct text *text, size_t at, size_t step)
{
	size_t count = 0;

	while (char_at(text, at + step * count) == ' ')
		count++; /* in front of the first stands (size_t)-1, behind the end */
	return count - (count && char_at(text, at + step * count) != '\n');
}

/* A column is as wide afterwards as before. */
static void put_comment(struct text *text, size_t at, size_t length, const char *comment)
{
	enum shown_column column = text->client->column;
	size_t wanted = strlen(comment), before = 0, behind = 0, room;

	if (column == SHOWN_LEFT)
		behind = blanks(text, at + length, 1);
	if (column == SHOWN_RIGHT)
		before = blanks(text, at - 1, (size_t)-1);
	if (before > at - text->from)
		before = at - text->from;
	room = column == SHOWN_AS_IS && length == TAG_LENGTH ? wanted : length + before + behind;
	if (wanted > room)
		wanted = room;
	copy_until(text, at - before);
	evbuffer_add_printf(text->out, column == SHOWN_RIGHT ? "%*.*s" : "%-*.*s", (int)room,
			    (int)wanted, comment);
	text->from = at + length + behind;
}

/* ---- the job's files ---------------------------------------------------------------------- */

/* The envelope of @job: strings, each ended by NUL; NULL: it is not there any more. */
static char *read_envelope(const struct session *session, const struct job *job, size_t *size)
{
	char path[4300], *data;
	ssize_t got = -1;
	int fd;

	snprintf(path, sizeof(path), "%.4000s/%s/" SBX_JOB_ENVELOPE, session->jobs, job->tag);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	data = fd < 0 ? NULL : malloc(ENVELOPE_MAX + 1);
	if (data)
		got = read(fd, data, ENVELOPE_MAX);
	if (fd >= 0)
		close(fd);
	*size = got > 0 ? (size_t)got : 0;
	if (data)
		data[*size] = '\0';
	return data;
}

static const char *value_of(const char *envelope, size_t size, const char *key)
{
	for (const char *at = envelope; envelope && at < envelope + size; at += strlen(at) + 1)
		if (!strncmp(at, key, strlen(key)))
			return at + strlen(key);
	return NULL;
}

/* With the numbers and the name of @job in it; other signs stay as they are.  @number: of a
 * task of an array. */
static void put_name(struct text *text, const char *pattern, const char *name,
		     const struct job *job, unsigned long number)
{
	while (*pattern) {
		size_t plain = strcspn(pattern, "%");

		evbuffer_add(text->out, pattern, plain);
		pattern += plain;
		if (*pattern && pattern[1] == 'j')
			evbuffer_add_printf(text->out, "%lu", number);
		else if (*pattern && pattern[1] == 'A')
			evbuffer_add_printf(text->out, "%u", job->id);
		else if (*pattern && pattern[1] == 'x' && name)
			evbuffer_add(text->out, name, strlen(name));
		else if (*pattern)
			evbuffer_add(text->out, pattern, pattern[1] ? 2 : 1);
		pattern += !*pattern ? 0 : pattern[1] ? 2 : 1;
	}
}

/* Behind "StdOut=", "StdErr=", "WorkDir=" Slurm has what we gave it. */
static void put_path(struct text *text, size_t at, const char *key, const struct job *job)
{
	static const char slurm[] = "/slurm-";
	size_t size = 0, length = strcspn(text->at + at, " \n");
	const char *slurms = memmem(text->at + at, length, slurm, strlen(slurm));
	char *envelope = read_envelope(text->client->server->session, job, &size);
	const char *cwd = value_of(envelope, size, "cwd "), *file = NULL;

	if (!strcmp(key, "StdErr="))
		file = value_of(envelope, size, "error ");
	if (!file)
		file = value_of(envelope, size, "output ");
	if (!file)
		file = job->tasks > 1 ? "slurm-%A_%a.out" : "slurm-%j.out";
	if (!strcmp(key, "WorkDir="))
		file = "";
	copy_until(text, at);
	if (!cwd)
		evbuffer_add_printf(text->out, "(null)");
	else if (*file != '/')
		evbuffer_add_printf(text->out, "%s%s", cwd, *file ? "/" : "");
	if (cwd)
		put_name(text, file, value_of(envelope, size, "name "), job,
			 slurms ? strtoul(slurms + strlen(slurm), NULL, 10) : job->id);
	text->from = at + length;
	free(envelope);
}

static const char *path_key(const struct text *text, size_t at)
{
	static const char *const keys[] = { "StdOut=", "StdErr=", "WorkDir=" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if ((!at || strchr(" \n", text->at[at - 1])) &&
		    !strncmp(text->at + at, keys[i], strlen(keys[i])))
			return keys[i];
	return NULL;
}

void shown_send(struct client *client, const struct job *job)
{
	struct text text = { .client = client,
			     .size = evbuffer_get_length(client->captured),
			     .out = evbuffer_new() };

	evbuffer_add(client->captured, "", 1); /* ends what is looked at */
	text.at = (const char *)evbuffer_pullup(client->captured, -1);
	for (size_t at = 0; at < text.size && text.out; at++) {
		const struct job *tagged;
		const char *key = job ? path_key(&text, at) : NULL;
		size_t length = 0;

		if (at < text.from)
			continue;
		if (key) {
			put_path(&text, at + strlen(key), key, job);
		} else if (text.at[at] == 's' && (tagged = tag_at(&text, at, &length))) {
			bool in_path = at && text.at[at - 1] == '/';
			const char *comment = tagged->comment ? tagged->comment : "";

			put_comment(&text, at, length, in_path ? "..." : comment);
		}
	}
	if (text.out && text.size) {
		copy_until(&text, text.size);
		client_send(client, CHAPERON_OUTPUT, evbuffer_pullup(text.out, -1),
			    evbuffer_get_length(text.out));
	}
	if (text.out)
		evbuffer_free(text.out);
}
