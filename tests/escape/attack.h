/* For attacks in C: says what came of each variant, as the suite reads it. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* @result: what a system call returned. */
static inline void outcome(const char *variant, long result)
{
	printf("%s %s\n", variant, result >= 0 ? "done" : strerrorname_np(errno));
	fflush(stdout);
}

/* Its action may be killed: then the signal's name. */
#define ALONE(variant, result)                                                                     \
	do {                                                                                       \
		pid_t child_ = fork();                                                             \
		int status_ = 0;                                                                   \
		if (child_ == 0) {                                                                 \
			outcome(variant, result);                                                  \
			_exit(0);                                                                  \
		}                                                                                  \
		waitpid(child_, &status_, 0);                                                      \
		if (WIFSIGNALED(status_))                                                          \
			printf("%s SIG%s\n", variant, sigabbrev_np(WTERMSIG(status_)));            \
		fflush(stdout);                                                                    \
	} while (0)
