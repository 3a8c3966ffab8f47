/*
 * stub/out.h - messages.
 *
 * Formats take %s %.*s %d %u %llu %x %o %c %%.  A string is escaped: control
 * characters and what is not UTF-8 become \xNN, so that no file name and no
 * policy can write to the terminal.
 */
#ifndef SBX_STUB_OUT_H
#define SBX_STUB_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUT_PREFIX    "sbx-exec: "
#define OUT_FORMAT(n) __attribute__((format(printf, n, n + 1)))

/* Exit statuses of our own; all others are the command's. */
enum {
	EXIT_TIME = 124,   /* limits { wall-time } ended the session */
	EXIT_REFUSED = 125,
	EXIT_NOT_RUN = 126, /* found, but not executable */
	EXIT_NOT_FOUND = 127,
};

/* Into @text, cut at @size, always ended by NUL; returns the length. */
size_t out_text(char *text, size_t size, const char *format, ...) OUT_FORMAT(3);
/* The same into the arena. */
const char *out_string(const char *format, ...) OUT_FORMAT(1);
/* To a descriptor, in one write; no newline is added. */
void out_print(int fd, const char *format, ...) OUT_FORMAT(2);
/* While @on, a line to standard error that is not taken soon is lost: there is more
 * to do than to wait for its reader. */
void out_hurry(bool on);
/* "sbx-exec: ...\n" to standard error. */
void note(const char *format, ...) OUT_FORMAT(1);
/* The same, and exit 125. */
_Noreturn void refuse(const char *format, ...) OUT_FORMAT(1);
/* From now on both are lines of --check's answer: "note ..." and "no   ..." to
 * standard output. */
void out_begin_list(void);
/* Behind the blanks and tabs at the start of @text. */
const char *out_skip(const char *text);
/* strstr(3); musl's is fast, and a kilobyte. */
const char *out_find(const char *text, const char *part);
/* "No such file or directory" and so on. */
const char *out_error(int error);
/* The whole number at the start of @text; *end: behind it, or @text where there
 * is none or it does not fit. */
unsigned long long out_read_number(const char *text, const char **end);
/* In the arena: a SHA-256 in hexadecimal, and a whole number. */
const char *out_hex(const uint8_t digest[32]);
const char *out_number(unsigned long long value);

#endif
