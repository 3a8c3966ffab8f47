/*
 * stub/out.c - a small printf whose strings are escaped.
 *
 * Standard error may be a terminal, and much of what is printed (paths, names
 * in the policy, variables) may have been chosen by whoever wrote into the
 * workspace.  So the one way to print a string is the escaped one.
 */
#include "stub/out.h"

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "stub/mem.h"

#define HURRY_US       100000
#define LINE_MAX_BYTES 20480 /* a path of 4,096 bytes, all escaped, fits */

struct sink {
	char *text;
	size_t size, length;
	bool raw; /* strings as they are */
};

static void put(struct sink *sink, char c)
{
	if (sink->length + 1 < sink->size)
		sink->text[sink->length++] = c;
}

static void put_number(struct sink *sink, unsigned long long value, unsigned base)
{
	char digits[24];
	size_t count = 0;

	do {
		digits[count++] = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	while (count)
		put(sink, digits[--count]);
}

/* Bytes of the well-formed, printable UTF-8 sequence at @s, or 0. */
static size_t utf8_length(const unsigned char *s, size_t left)
{
	size_t length = *s >= 0xf0 && *s < 0xf5   ? 4
			: *s >= 0xe0              ? 3
			: *s >= 0xc2 && *s < 0xe0 ? 2
						  : 0;
	uint32_t code;

	if (*s < 0x80)
		return *s >= 0x20 && *s != 0x7f;
	if (!length || length > left || *s >= 0xf5)
		return 0;
	code = *s & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (length == 3 && (code < 0x800 || (code >= 0xd800 && code < 0xe000)))
		return 0;
	if (length == 4 && (code < 0x10000 || code > 0x10ffff))
		return 0;
	/* C1 controls, and the marks that reorder a line for the reader. */
	if (code < 0xa0 || (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069))
		return 0;
	return length;
}

static void put_string(struct sink *sink, const char *text, size_t length)
{
	const unsigned char *s = (const unsigned char *)text;

	while (length) {
		size_t good = sink->raw ? 1 : utf8_length(s, length);

		if (!good) {
			put(sink, '\\');
			put(sink, 'x');
			put(sink, "0123456789abcdef"[*s >> 4]);
			put(sink, "0123456789abcdef"[*s & 15]);
			good = 1;
		} else {
			for (size_t i = 0; i < good; i++)
				put(sink, (char)s[i]);
		}
		s += good;
		length -= good;
	}
}

static void format_into(struct sink *sink, const char *format, va_list args)
{
	for (; *format; format++) {
		size_t precision = SIZE_MAX;
		const char *s;
		int number;

		if (*format != '%') {
			put(sink, *format);
			continue;
		}
		format++;
		if (*format == '.') {
			format++;
			precision = 0;
			if (*format == '*')
				precision = (size_t)va_arg(args, int);
			for (; *format == '*' || (*format >= '0' && *format <= '9'); format++)
				if (*format != '*')
					precision = 10 * precision + (size_t)(*format - '0');
		}
		switch (*format) {
		case 's':
			s = va_arg(args, const char *);
			put_string(sink, s, strnlen(s, precision));
			break;
		case 'd':
			number = va_arg(args, int);
			if (number < 0)
				put(sink, '-');
			put_number(sink,
				   number < 0 ? 0ull - (unsigned long long)number
					      : (unsigned long long)number,
				   10);
			break;
		case 'u':
			put_number(sink, va_arg(args, unsigned), 10);
			break;
		case 'x':
			put_number(sink, va_arg(args, unsigned), 16);
			break;
		case 'o':
			put_number(sink, va_arg(args, unsigned), 8);
			break;
		case 'z': /* %zu */
			format++;
			put_number(sink, va_arg(args, size_t), 10);
			break;
		case 'l': /* %llu, %llx */
			format += 2;
			put_number(sink, va_arg(args, unsigned long long),
				   *format == 'x' ? 16 : 10);
			break;
		case 'c':
			put(sink, (char)va_arg(args, int));
			break;
		default:
			put(sink, *format);
		}
	}
	if (sink->size)
		sink->text[sink->length] = '\0';
}

size_t out_text(char *text, size_t size, const char *format, ...)
{
	struct sink sink = { text, size, 0, false };
	va_list args;

	va_start(args, format);
	format_into(&sink, format, args);
	va_end(args);
	return sink.length;
}

const char *out_string(const char *format, ...)
{
	char text[LINE_MAX_BYTES];
	struct sink sink = { text, sizeof(text), 0, false };
	va_list args;

	va_start(args, format);
	format_into(&sink, format, args);
	va_end(args);
	return mem_copy(text, sink.length);
}

/* The reader of standard error may be the program's to stop: it fills the pipe, or
 * tells the terminal to wait.  Who has more to do than to speak must not wait too. */
static bool hurried;

static void interrupt(int number)
{
	(void)number;
}

void out_hurry(bool on)
{
	const struct sigaction action = { .sa_handler = interrupt }; /* no SA_RESTART */
	sigset_t timer;

	hurried = on;
	if (!on)
		return;
	sigemptyset(&timer);
	sigaddset(&timer, SIGALRM);
	sigaction(SIGALRM, &action, NULL);
	sigprocmask(SIG_UNBLOCK, &timer, NULL);
}

static void write_all(int fd, const char *text, size_t length)
{
	const struct itimerval limit = { { 0, HURRY_US }, { 0, HURRY_US } }, none = { 0 };

	if (hurried)
		setitimer(ITIMER_REAL, &limit, NULL);
	while (length) {
		ssize_t done = write(fd, text, length);

		if (done <= 0 && fd == STDOUT_FILENO)
			_exit(EXIT_REFUSED); /* what was asked for is not there */
		if (done <= 0)
			break;
		text += done;
		length -= (size_t)done;
	}
	if (hurried)
		setitimer(ITIMER_REAL, &none, NULL);
}

void out_print(int fd, const char *format, ...)
{
	char text[LINE_MAX_BYTES];
	struct sink sink = { text, sizeof(text), 0, false };
	va_list args;

	va_start(args, format);
	format_into(&sink, format, args);
	va_end(args);
	write_all(fd, text, sink.length);
}

static bool listing;

/* @word is the line's first in --check's list. */
static void say(const char *word, const char *format, va_list args)
{
	char text[LINE_MAX_BYTES];
	struct sink sink = { text, sizeof(text) - 1, 0, false };
	const char *prefix = listing ? word : OUT_PREFIX;

	while (*prefix)
		put(&sink, *prefix++);
	format_into(&sink, format, args);
	text[sink.length++] = '\n';
	write_all(listing ? STDOUT_FILENO : STDERR_FILENO, text, sink.length);
}

void note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("note ", format, args);
	va_end(args);
}

void out_begin_list(void)
{
	listing = true;
}

void refuse(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("no   ", format, args);
	va_end(args);
	if (listing)
		out_print(STDOUT_FILENO, "note what comes after it was not looked at\n"
					 "no   this machine cannot enforce the policy\n");
	_exit(EXIT_REFUSED);
}

/*
 * musl's own can print floating point, which costs 12 KB.  These two take what
 * blob/ needs: the formats above, %zu, and a precision for strings; strings
 * are not escaped here but when they are shown.
 */
int vsnprintf(char *text, size_t size, const char *format, va_list args)
{
	struct sink sink = { text, size, 0, true };

	format_into(&sink, format, args);
	return (int)sink.length;
}

int snprintf(char *text, size_t size, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text, size, format, args);
	va_end(args);
	return length;
}

const char *out_skip(const char *text)
{
	while (*text == ' ' || *text == '\t')
		text++;
	return text;
}

const char *out_find(const char *text, const char *part)
{
	size_t length = strlen(part);

	for (; *text; text++)
		if (!strncmp(text, part, length))
			return text;
	return NULL;
}

const char *out_error(int error)
{
	return error ? strerror(error)
		     : "what should confine does not: another program answers the system calls "
		       "made here: start outside it";
}

const char *out_hex(const uint8_t digest[32])
{
	char *text = mem_get(2 * 32 + 1);

	for (size_t i = 0; i < 2 * 32; i++)
		text[i] = "0123456789abcdef"[digest[i / 2] >> (i % 2 ? 0 : 4) & 15];
	return text;
}

const char *out_number(unsigned long long value)
{
	return out_string("%llu", value);
}

unsigned long long out_read_number(const char *text, const char **end)
{
	unsigned long long value = 0;

	*end = text;
	for (const char *s = text; *s >= '0' && *s <= '9'; s++) {
		unsigned digit = (unsigned)(*s - '0');

		if (value > (~0ull - digit) / 10) {
			*end = text;
			return 0;
		}
		value = 10 * value + digit;
		*end = s + 1;
	}
	return value;
}
