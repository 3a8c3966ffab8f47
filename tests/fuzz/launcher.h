/*
 * tests/fuzz/launcher.h - the launcher's own files in a fuzzer.
 *
 * Included before each of them.  sbx-exec ends by _exit() wherever it refuses,
 * writes to standard error, and brings a printf of its own: here the first
 * comes back to the fuzzer, the second is looked at for what may not reach a
 * terminal, and the third does not take the place of libc's.
 */
#ifndef SBX_TESTS_FUZZ_LAUNCHER_H
#define SBX_TESTS_FUZZ_LAUNCHER_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _exit     launcher_exit
#define write     launcher_write
#define snprintf  launcher_snprintf
#define vsnprintf launcher_vsnprintf

/* Calls @run; the status with which it has ended, or -1: it came back.  Then all
 * memory that it got is free again. */
int launcher_run(void (*run)(void *data), void *data);
/* A fault: ends the fuzzer. */
#define fuzz_fault(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), abort())

_Noreturn void launcher_exit(int status);
ssize_t launcher_write(int fd, const void *bytes, size_t size);
int launcher_snprintf(char *text, size_t size, const char *format, ...);
int launcher_vsnprintf(char *text, size_t size, const char *format, va_list args);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#endif
