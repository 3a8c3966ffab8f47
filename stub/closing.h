/*
 * stub/closing.h - the end of a session: nothing runs on, and what to look at.
 */
#ifndef SBX_STUB_CLOSING_H
#define SBX_STUB_CLOSING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct launch;
struct outcome;

/* The files that the host runs later, as they are before the session. */
void closing_remember(struct launch *launch);
/* closing_end.c: before anything is started, what is older than the session, if the
 * caller had children before it became us: they are left alone. */
void closing_note_strangers(struct launch *launch);
/* Ends every other descendant of ours that is left, orphans included. */
void closing_end_all(const struct launch *launch);
/* One line: what was refused, what the host runs later and changed. */
void closing_report(struct launch *launch, const struct outcome *outcome);

/* closing_compare.c: a name that exists, and all beneath it. */
struct insides {
	uint8_t looks[32]; /* of kinds, inodes, sizes and times */
	uint8_t contents[32];
	bool read;    /* @contents are known */
	bool partial; /* not even @looks cover all of it */
	bool empty;   /* a file or directory with nothing in it */
};
void closing_look_through(const char *path, struct insides *out);
/* By contents, if both are known; else by looks. */
bool closing_is_same(const struct insides *before, const struct insides *now);

/* closing_head.c: which repository it is, before the session. */
void closing_note_repository(const struct launch *launch);
/* Which of @count @paths differ from HEAD of that repository?  Answers in @differs;
 * all false where that cannot be had. */
void closing_ask_head(const struct launch *launch, const char *const *paths, size_t count,
		      bool *differs);

/* closing_blob.c: is @path, by kind and contents, what git calls @name (its digits end
 * at a tab), a symbolic link or not?  *budget: how many bytes may be read; true as
 * well for what is past it. */
bool closing_is_blob(const char *path, bool link, const char *name, size_t *budget);

#endif
