/*
 * blob/verdict.h - what a policy decides: the one implementation.
 *
 * sbxc (assertions, explain), sbx-exec (assertions, the plan) and the proxies
 * all ask these functions, so they cannot disagree.  They do no I/O and
 * allocate nothing.
 */
#ifndef SBX_BLOB_VERDICT_H
#define SBX_BLOB_VERDICT_H

#include "blob/blob.h"

/* Values of the variables; NULL: unset.  Paths are absolute and canonical. */
struct sbx_vars {
	const char *value[SBX_VAR_PARAM + SBX_PARAM_MAX];
};
const char *sbx_var_name(const struct sbx_blob *blob, uint32_t var);

/*
 * Expands @tmpl into @out (NUL-terminated).  Where the template has a
 * wildcard, *wild is set and the text is a pattern in which literal
 * * ? [ ] \ are escaped by a backslash; else it is the plain bytes.
 * Returns the length, or -1: too long for @size, or (*unset != SBX_NONE) a
 * variable that has no value.
 */
int sbx_expand(const struct sbx_blob *blob, struct sbx_tmpl tmpl,
	       const struct sbx_vars *vars, char *out, size_t size, bool *wild,
	       uint32_t *unset);

/* ---- files ---------------------------------------------------------------
 * The caller expands each rule (and resolves symlinks where there is a file
 * system to ask) into points; a rule has one point for its name as written
 * and one more where that resolves to another name.
 */
struct sbx_fs_point {
	const char *path; /* absolute, no trailing slash but "/" itself */
	uint32_t rule;    /* in SBX_SEC_FS, or SBX_RULE_SELF */
	uint8_t verb;     /* enum sbx_fs_verb */
	uint8_t rights;
	uint8_t wild;     /* @path is a pattern */
	uint8_t reserved;
	uint32_t length;  /* of a plain @path, to tell most apart at once; 0: not measured */
	uint32_t except_first, except_count; /* in set->excepts */
};
#define SBX_RULE_SELF 0xfffffffeu /* blob and launcher protect themselves */
struct sbx_fs_set {
	const struct sbx_fs_point *points;
	size_t count;
	const char *const *excepts; /* expanded; literal paths */
};
enum sbx_why { SBX_WHY_NOTHING, SBX_WHY_GRANT, SBX_WHY_DENY, SBX_WHY_SEAL };
struct sbx_fs_verdict {
	bool allowed;
	enum sbx_why why;
	uint32_t point; /* in set->points, or SBX_NONE: no rule speaks of it */
	uint32_t loser; /* the heaviest of the other side, or SBX_NONE */
};
/* @right: one of SBX_READ, SBX_WRITE, SBX_EXEC.  @path: absolute, canonical.  Where a grant in
 * a tmp or a copy opens the host's own, that grant is what refuses other rights. */
void sbx_fs_decide(const struct sbx_fs_set *set, const char *path,
		   unsigned right, struct sbx_fs_verdict *out);
bool sbx_fs_allows(const struct sbx_fs_set *set, const char *path, unsigned right);
/* Does @point (literal or pattern) cover @path: match it or a parent of it?
 * Returns the depth (components) of the longest matching prefix, or -1. */
int sbx_fs_covers(const struct sbx_fs_point *point, const char *path);
/* One component (or whole path) against a pattern; ** spans components. */
bool sbx_glob_match(const char *pattern, const char *path);

/* ---- environment ---------------------------------------------------------- */
struct sbx_env_verdict {
	bool visible;
	bool set;      /* by the policy, else passed from outside */
	uint32_t rule; /* in SBX_SEC_ENV, or SBX_NONE */
	uint32_t credential; /* whose placeholder it is, or SBX_NONE */
};
void sbx_env_decide(const struct sbx_blob *blob, const char *name,
		    struct sbx_env_verdict *out);

/* ---- system calls --------------------------------------------------------- */
struct sbx_sys_verdict {
	enum sbx_sys_action action;
	unsigned error;
	uint32_t stmt; /* in SBX_SEC_SYS_STMTS */
};
void sbx_sys_decide(const struct sbx_blob *blob, enum sbx_arch arch,
		    uint32_t nr, const uint64_t args[6],
		    struct sbx_sys_verdict *out);
/*
 * What the second program of a backend without namespaces answers: the
 * SBX_F_SHARED statements alone, which the function above leaves out.  Allowed
 * (stmt SBX_NONE) where none of them holds; the kernel takes the stricter of
 * both answers, and what is killed at any rate (x32) is left to the first.
 * @args NULL: where no `where` holds.
 */
void sbx_sys_decide_shared(const struct sbx_blob *blob, enum sbx_arch arch,
			   uint32_t nr, const uint64_t args[6],
			   struct sbx_sys_verdict *out);
/*
 * The same without arguments: *depends is set when a `where` could change the
 * answer; the verdict is then the one where no `where` holds.
 */
void sbx_sys_decide_name(const struct sbx_blob *blob, enum sbx_arch arch,
			 uint32_t nr, struct sbx_sys_verdict *out, bool *depends);
/*
 * Is each call refused, by the filter or by the second program, whose arguments have these
 * values in the bits that are known, whatever they have in others?
 */
bool sbx_sys_refuses(const struct sbx_blob *blob, enum sbx_arch arch, uint32_t nr,
		     const uint64_t known[6], const uint64_t value[6]);

/*
 * A call by which a filter shows: refused by it with another error than the kernel's,
 * which answers EBADF for descriptor -1 and ESRCH for process -1.  @shared: by the second
 * program, which is attached first; @two: there is one, so the first is told apart from
 * it.  0: there is none.
 */
uint32_t sbx_sys_tell(const struct sbx_blob *blob, enum sbx_arch arch, bool shared, bool two);

/* ---- network -------------------------------------------------------------- */
struct sbx_net_verdict {
	bool allowed;
	uint32_t rule;    /* in SBX_SEC_NET, or SBX_NONE: the mode decided */
};
/* @host: a name, or a literal address; the name gate, and the address gate
 * where @host is a literal. */
void sbx_net_decide(const struct sbx_blob *blob, const char *host,
		    unsigned port, struct sbx_net_verdict *out);
/* The address gate for what @host resolved to (IPv4 mapped to ::ffff:). */
void sbx_net_decide_address(const struct sbx_blob *blob, const char *host,
			    const uint8_t address[16], unsigned port,
			    struct sbx_net_verdict *out);
/*
 * One request to a host where TLS is ended, of the rules that open @host: `method` and
 * `prefix`.  @path is the request's target, from its first slash on, with its query.
 * @address: where it goes, since a rule `at` other addresses opens nothing there; NULL:
 * not known yet.
 *
 * A prefix is whole components, byte by byte: nothing is decoded.  What a server may
 * take for another path than the one that was compared (dot segments, empty ones, a
 * backslash, control bytes, bytes past ASCII, and the same as %xx) is refused as soon as
 * one of the rules has a prefix.
 */
enum sbx_request_why {
	SBX_REQUEST_ALLOWED,
	SBX_REQUEST_NAME,   /* the host is not open */
	SBX_REQUEST_METHOD, /* no rule allows this method on any path */
	SBX_REQUEST_PATH,   /* one allows the method, not on this path */
	SBX_REQUEST_UNCLEAR /* the path may be read as another */
};
struct sbx_request_verdict {
	bool allowed;
	enum sbx_request_why why;
	uint32_t rule; /* in SBX_SEC_NET: that allows it; else that came nearest, which has the
			* method where one has; or SBX_NONE */
};
void sbx_net_decide_request(const struct sbx_blob *blob, const char *host, unsigned port,
			    const uint8_t *address, const char *method, const char *path,
			    struct sbx_request_verdict *out);
/* Does one of the rules that open @host narrow its requests, or a credential go there?
 * Then, and only then, TLS ends at the proxy. */
bool sbx_net_ends_tls(const struct sbx_blob *blob, const struct sbx_vars *vars, const char *host,
		      unsigned port);
/* The first credential from number @from on that goes to @host, in SBX_SEC_CREDENTIALS,
 * or SBX_NONE. */
uint32_t sbx_credential_for(const struct sbx_blob *blob, const struct sbx_vars *vars,
			    const char *host, unsigned port, uint32_t from);
/* So many go to one host and port: a policy with more does not compile. */
#define SBX_HOST_CREDENTIALS 16
/* Is @name, of @size bytes, of this @shape, in which a * stands for any bytes?  Letters
 * count in either case, and all else but digits is one to servers (blob/fields.def). */
bool sbx_field_is(const char *shape, const char *name, size_t size);
/* What parts the names in a word of `source exec`: "--from=FILE", or a script for a shell. */
#define SBX_BETWEEN_NAMES " \t\n\"'`=:;,|&<>(){}@!+%#?*[]^\\"
/* Where what such a command runs by its bare name is found. */
#define SBX_COMMAND_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
/* The next name of a file that @word may hold, @name being the one before, at first {0};
 * false: there is none any more. */
struct sbx_name {
	size_t start, end;
};
bool sbx_next_name(const char *word, struct sbx_name *name);
/* A name in the abstract socket namespace, without the leading NUL. */
void sbx_net_decide_abstract(const struct sbx_blob *blob, const char *name,
			     struct sbx_net_verdict *out);
/* Path sockets: what is allowed is @path itself, the rule's path expanded with @vars; a
 * deny covers what lies beneath, too. */
void sbx_net_decide_unix(const struct sbx_blob *blob,
			 const struct sbx_vars *vars, const char *path,
			 struct sbx_net_verdict *out);

/* ---- Slurm ----------------------------------------------------------------
 * Command lines of the clients, read strictly: see slurm_verdict.c.
 */
#define SBX_SLURM_GIVEN_MAX 128
struct sbx_slurm_given {
	uint32_t option;   /* its declaration, in SBX_SEC_SLURM */
	const char *value; /* NULL: none */
};
struct sbx_slurm_request {
	char command[64];  /* as it is declared: "sbatch", "scontrol-update" */
	struct sbx_slurm_given given[SBX_SLURM_GIVEN_MAX];
	unsigned given_count;
	const char **operands; /* of the arguments; those of sbatch: script and its own */
	unsigned operand_count;
};
enum sbx_slurm_why { /* it is refused: what would have to be said */
	SBX_SLURM_OTHER,   /* nothing helps: it is not read, or not taken at all */
	SBX_SLURM_NOBODY,  /* an allow of the option, or of the command where there is none */
	SBX_SLURM_VALUE,   /* an allow with this value */
	SBX_SLURM_AGAINST, /* a deny or seal is in the way */
};
struct sbx_slurm_verdict {
	bool allowed;
	enum sbx_slurm_why why;
	uint32_t rule;      /* in SBX_SEC_SLURM, or SBX_NONE: nothing allows it */
	const char *option; /* of which a refusal speaks, or NULL */
	const char *value;  /* of it, or NULL */
	unsigned takes;     /* what that option takes */
	char reason[256];   /* one line, when refused */
};
#define SBX_SLURM_REFUSALS_MAX 8
struct sbx_slurm_refusals {
	bool whole;     /* all was read: these are all */
	unsigned count; /* those past the last one are not kept */
	struct sbx_slurm_verdict items[SBX_SLURM_REFUSALS_MAX];
};
/*
 * Reads all of a command line: its command must be allowed, and each option with its
 * value.  @arguments (with the command's name) are put into another order; @request
 * points to them.  False: refused, and @out says why.  @all: not the first refusal alone,
 * an option that is refused is read past; NULL: the first is enough.
 */
bool sbx_slurm_read(const struct sbx_blob *blob, const struct sbx_vars *vars,
		    const char **arguments, unsigned count, struct sbx_slurm_request *request,
		    struct sbx_slurm_verdict *out, struct sbx_slurm_refusals *all);
/* Reads the words of one directive of a script; @request is that of all its directives,
 * with the command's name in it. */
bool sbx_slurm_read_directive(const struct sbx_blob *blob, const struct sbx_vars *vars,
			      const char **words, unsigned count,
			      struct sbx_slurm_request *request, struct sbx_slurm_verdict *out,
			      struct sbx_slurm_refusals *all);
/* Adds one option, as if it were given: from a variable. */
bool sbx_slurm_give(const struct sbx_blob *blob, const struct sbx_vars *vars, uint32_t option,
		    const char *value, struct sbx_slurm_request *request,
		    struct sbx_slurm_verdict *out);
/* The words of a line, in @text, as sbx_slurm_decide() splits it.  False: too long, too
 * many, or a quote is open. */
#define SBX_SLURM_LINE_SIZE 4096
#define SBX_SLURM_WORD_MAX  128
bool sbx_slurm_split(const char *line, char text[SBX_SLURM_LINE_SIZE],
		     const char *words[SBX_SLURM_WORD_MAX], unsigned *count);
/* The same for a line: words split at blanks, with '..' and ".." quoting and no other
 * shell syntax. */
void sbx_slurm_decide(const struct sbx_blob *blob, const struct sbx_vars *vars,
		      const char *line, struct sbx_slurm_verdict *out);

/* How much @value asks for, of an option that takes an amount (enum sbx_slurm_takes):
 * seconds, KiB, a number.  False: it is none, or one without a bound, as --time=0. */
bool sbx_slurm_amount(unsigned takes, const char *value, uint64_t *out);
/* Is @value within `max @limit`? */
bool sbx_slurm_at_most(unsigned takes, const char *value, const char *limit);
/* Can `max @limit` be said of such an option? */
bool sbx_slurm_is_limit(unsigned takes, const char *limit);
/* What is wrong with @value whatever the policy says, or NULL. */
const char *sbx_slurm_objection(unsigned takes, const char *value);

/* ---- assertions ----------------------------------------------------------- */
struct sbx_assert_result {
	bool holds;
	bool snapshot;    /* rests on a snapshot pattern: holds at launch only */
	char object[512]; /* expanded */
	char reason[512]; /* when it fails: what the policy decides instead */
	uint32_t loc;     /* of the rule that decided, or SBX_NONE */
	enum sbx_section_id section; /* of that rule */
	uint32_t rule;
};
/* What the answers may need that is not in the blob; each may be NULL. */
struct sbx_assert_means {
	/* Gives the canonical name of an object's path; writes at most @size bytes and
	 * returns false when it cannot.  NULL: it is as it is. */
	bool (*resolve)(void *context, const char *path, char *out, size_t size);
	void *context;
	/* sbx_slurm_decide().  NULL: `submit` holds, as sbxc has seen: it does not depend on
	 * the machine, and the reader of such lines is not small. */
	void (*submit)(const struct sbx_blob *blob, const struct sbx_vars *vars, const char *line,
		       struct sbx_slurm_verdict *out);
};
void sbx_assert_check(const struct sbx_blob *blob, uint32_t index, const struct sbx_vars *vars,
		      const struct sbx_fs_set *set, const struct sbx_assert_means *means,
		      struct sbx_assert_result *out);

#endif
