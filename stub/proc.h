/*
 * stub/proc.h - small files of /proc, read without allocating: they are read as
 * often as the program likes to cause it.
 */
#ifndef SBX_STUB_PROC_H
#define SBX_STUB_PROC_H

#include <stddef.h>
#include <stdint.h>

/* The beginning of @path into @text, ended by NUL; its length, 0: not to be had. */
size_t proc_read(const char *path, char *text, size_t size);
/* The number behind @label ("\nTgid:") in such a text, to this base; 0: not there. */
uint64_t proc_number(const char *text, const char *label, unsigned base);

#endif
