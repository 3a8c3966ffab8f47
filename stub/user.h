/*
 * stub/user.h - who runs this: a static program has no NSS to ask.
 */
#ifndef SBX_STUB_USER_H
#define SBX_STUB_USER_H

#include <sys/types.h>

/* The home directory as written in passwd, else by getent(1), else $HOME where
 * the user owns it (said on standard error); NULL: none. */
const char *user_home(uid_t uid);
/* The login name, or NULL. */
const char *user_name(uid_t uid);

#endif
