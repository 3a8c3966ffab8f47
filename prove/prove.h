/*
 * prove/prove.h - does the kernel do what the policy says?
 *
 *	scratch.c     a home, a workspace and listeners made for it, and removed
 *	keys.c        what stands for the sources of credentials
 *	claims*.c     what the policy claims, and the probe that would show it false
 *	calls.h       between those of them that are about system calls
 *	control.c     the same policy with its refusals lifted
 *	edit.c        a blob that can be changed
 *	run.c         sbx-probe inside sbx-exec: requests in, answers out
 *	judge.c       answers -> verdicts
 *	report*.c     verdicts -> text, JSON, JUnit, TAP
 *	basis.c       what a proof rests on: kernel, programs, values
 *	agent.c       the program that the policy is for
 *	record.c      the chain of entries that --record adds to
 *	keep.c        what sbx-exec reads for `require { proof }`
 *	cmd_prove.c   the commands
 *
 * $home becomes a directory of prove's own, by a change to the blob (edit.h):
 * nothing of the user's is bait, and every name that a policy speaks of beneath
 * it can be made, so that a refusal of it means something.
 */
#ifndef SBX_PROVE_PROVE_H
#define SBX_PROVE_PROVE_H

#include <signal.h>

#include "compiler/targets.h"
#include "compiler/view.h"

#if defined(__x86_64__)
#define PROVE_ARCH SBX_X86_64
#else
#define PROVE_ARCH SBX_AARCH64
#endif

enum verdict { HOLDS, LEAKS, VACUOUS, NOT_MEASURABLE, VERDICT_COUNT };
extern const char *const verdict_names[VERDICT_COUNT];

/* Some things are tried in sessions of their own. */
enum apart {
	TOGETHER,
	APART_ABSENT,	/* that begin without the names in question */
	APART_TERMINAL, /* that are handed a terminal */
	APART_TIME,	/* that are to end by themselves */
	APART_PROXY,	/* whose control runs have a proxy, too */
};

/* One thing that the policy says, and one way to try it. */
struct claim {
	enum sbx_section_id section;
	const char *rule;  /* as it is written */
	const char *place; /* "std/git.pol:12" */
	const char *tried; /* "write ~/.ssh/id_ed25519" */
	const char *request; /* to sbx-probe; NULL: nothing can be tried */
	bool through;	   /* the policy lets it through */
	bool outside;	   /* it is tried without a sandbox too */
	bool kills;	   /* a system call: the answer is SIGSYS */
	unsigned error;	   /* a system call: the answer; else 0 */
	const char *value; /* env: what it must be; NULL: anything */
	bool given;	   /* env: but not what it is outside */
	const char *says;  /* a host: what the proxy's refusal names */
	const char *instead; /* asked in the control run; NULL: the same */
	const char *object; /* what a control run has to open: a path, a name */
	unsigned right;	    /* a path: SBX_READ, ... */
	unsigned port;	    /* a host's */
	bool lifted;	    /* in the control run a grant stands for it */
	bool itself;	    /* sbx protects itself: no rule that could be taken out */
	enum apart apart;   /* which session tries it */
	/* Answers; NULL: not tried. */
	const char *plain, *control, *marked, *bare;
	enum verdict verdict;
	const char *why; /* not measurable: beforehand, or from judge.c */
};

struct scratch {
	const char *top, *home, *work, *sibling, *blobs, *probe;
	int lock;                 /* on @top, as long as it is in use */
	int tcp, local, abstract; /* listening */
	unsigned port;
	const char *socket, *name;
	struct {
		VEC_OF(int)
	} sockets; /* listening at names that the policy speaks of */
};

struct prove { /* of one backend */
	struct arena *arena;
	const char *parent; /* where places of its own are made */
	const char *launcher, *probe; /* sbx-exec, sbx-probe */
	const struct sbx_blob *given;
	const struct define *defines;
	size_t define_count;
	struct target target;
	struct scratch scratch;
	struct sbx_blob blob; /* with $home moved */
	struct view view;
	struct {
		VEC_OF(struct claim)
	} claims;
	const struct claim *ended; /* with which the session ended, against the policy; or NULL */
	const char *refused; /* why no session starts here; NULL: one does */
	const char *failed;  /* why nothing could be tried at all, or NULL */
	unsigned runs;
	bool progress; /* is to be shown */
	bool named;    /* by --backend: where no session starts there, that is no result */
	bool terminal; /* the next sessions are handed one, as standard error */
};

extern volatile sig_atomic_t prove_stopped; /* by a signal: leave nothing behind */

/* ---- scratch.c: NULL, or what could not be made */
const char *scratch_make(struct prove *prove);
const char *scratch_path(struct prove *prove, const char *path, bool directory,
			 const char *text);
void scratch_socket(struct prove *prove, const char *path); /* where one can be */
bool scratch_has(const struct prove *prove, const char *path);
void scratch_remove(struct prove *prove);
/* Takes the name @path away, with whatever holds it since; puts it back. */
void scratch_hide(struct prove *prove, const char *path);
void scratch_show(struct prove *prove, const char *path);
/* As a reader of the policy would write it: "~/.ssh", "$workspace/x". */
const char *scratch_shown(const struct prove *prove, const char *path);

/* ---- keys.c */
struct edit;
/* Another command for each source that is one; NULL, or what could not be made. */
const char *keys_replace(struct prove *prove, struct edit *edit);
const char *keys_make(struct prove *prove); /* sources that are files; NULL, or what could not be made */
const char *keys_variable(const struct prove *prove, uint32_t index); /* a source that is one, or NULL */

/* ---- claims*.c */
struct claim *claim_add(struct prove *prove, enum sbx_section_id section, uint32_t rule);
const char *claim_escaped(struct arena *arena, const char *text);
const char *claim_expand(const struct prove *prove, struct sbx_tmpl tmpl, bool *wild);
void claims_baits(struct prove *prove); /* makes what the policy names, before the view */
void claims_files(struct prove *prove);
/* @verb to @path, as the policy has it; section ASSERTS or FS, rule SBX_NONE: none's. */
struct claim *claim_path(struct prove *prove, enum sbx_section_id section, uint32_t rule,
			 const char *path, unsigned right, const char *verb);
void kinds_make(struct prove *prove); /* with the other baits */
void claims_kinds(struct prove *prove);
void claims_env(struct prove *prove);
void claims_calls(struct prove *prove);
void net_baits(struct prove *prove); /* with the other baits */
void claims_net(struct prove *prove);
/* In mode proxy: what each rule about hosts says, and a host by itself.  @port 0: a rule's
 * without one. */
void claims_hosts(struct prove *prove);
void claim_host(struct prove *prove, enum sbx_section_id section, uint32_t rule, const char *host,
		unsigned port);
/* To ask for it means no traffic: it is this host's loopback, or a name of nobody's. */
bool host_is_harmless(const char *host);
void claims_process(struct prove *prove);
void claims_slurm(struct prove *prove);
#define BAIT_VALUE "sbx-prove-bait"
#define BAIT_PATH "/usr/local/bin:/usr/bin:/bin:/" BAIT_VALUE /* no policy sets it to that */
#define BAIT_FD 9
#define BAIT_PORT "the port" /* the listener's, as a claim's object */

/* ---- control.c */
/* What stands for $home, and where sbx-probe can be run: the policy as it is tried. */
const char *control_plain(struct prove *prove);
/* With every refusal lifted, and the claims @lift[0..@count] granted. */
const char *control_lifted(struct prove *prove, struct claim *const *lift, size_t count,
			   struct sbx_blob *out);
/* With each error that a filter answers turned into MARK. */
const char *control_marked(struct prove *prove, struct sbx_blob *out);
#define MARK 4094
/* With a wall-time that is worth waiting for. */
const char *control_timed(struct prove *prove, struct sbx_blob *out);
#define SHORT_TIME_S 1
/* In mode proxy still: this host's listener is let through, and what is harmless. */
const char *control_proxied(struct prove *prove, struct sbx_blob *out);
/* Which claims are closed still when every refusal is lifted. */
void control_find(struct prove *prove);

/* ---- run.c */
/* One session, or none (@blob NULL): the answers to @requests, in the arena.  NULL when the
 * session did not start; *why is what was said. */
const char **run_probe(struct prove *prove, const struct sbx_blob *blob,
		       const char *const *requests, size_t count, const char **why);

/* ---- judge.c */
void prove_all(struct prove *prove);

#endif
