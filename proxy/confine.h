/*
 * proxy/confine.h - what the worker may still do once a session is set up.
 */
#ifndef SBX_PROXY_CONFINE_H
#define SBX_PROXY_CONFINE_H

/* At the very start: no core, no ptrace, no new rights, the end with the parent. */
const char *confine_process(void);
/*
 * Of the worker, for good: files can be opened but those a name is resolved by; no
 * program started; no socket but TCP and UDP.  Tries both, since a confinement that
 * holds nothing would look the same.  NULL, or what is wrong.
 */
const char *confine_worker(void);

#endif
