/*
 * stub/git.h - the repository around the workspace.
 */
#ifndef SBX_STUB_GIT_H
#define SBX_STUB_GIT_H

#include <stdbool.h>

struct launch;
/* Sets $gitdir, $gitcommon and $githooks; unset where there is none. */
void git_resolve(struct launch *launch);
/* Would git, started in @dir, take what is there for a repository? */
bool git_would_use(const char *dir);

/* gitconfig.c: the last value of core.@key (lower case) in a configuration;
 * NULL: none.  *includes: it names other files, which are not read. */
const char *git_config_core(const char *text, const char *key, bool *includes);

#endif
