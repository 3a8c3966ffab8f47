/*
 * blob/blob.h - the .sbx format and its one reader.
 *
 * A blob is little-endian and position-independent: a header, a section
 * table, and sections of fixed-size records that refer to one string table
 * and to each other by index.  sbx_blob_open() checks every bound once; after
 * that no access through the accessors below can leave the mapping.
 *
 *	offset 0   struct sbx_header          80 bytes
 *	       80  struct sbx_section[n]      24 bytes each, by ascending id
 *	       ..  section contents           each at a multiple of 8, in order
 *
 * The SHA-256 in the header is over the whole file with the digest field
 * zero; it is also the policy's identity.  Sections marked critical that a
 * reader does not know make it refuse; so does a newer format version.
 */
#ifndef SBX_BLOB_BLOB_H
#define SBX_BLOB_BLOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "blobs are mapped as they are: little-endian machines only"
#endif

#define SBX_MAGIC "\177SBX\r\n\032\n" /* as PNG's: shows a text-mode copy */
#define SBX_FORMAT_VERSION 1
#define SBX_BLOB_SIZE_MAX (64u << 20)
#define SBX_NONE 0xffffffffu /* no string, no location, no index */
#define SBX_NONE16 0xffffu

struct sbx_header {
	uint8_t magic[8];
	uint32_t version;
	uint32_t size;          /* of the whole file */
	uint32_t section_count;
	uint32_t kind;          /* enum sbx_kind */
	uint8_t digest[32];
	uint8_t reserved[24];   /* zero */
};

struct sbx_section {
	uint32_t id;
	uint32_t flags; /* SBX_SECTION_CRITICAL */
	uint32_t offset;
	uint32_t size;  /* bytes: count * record_size */
	uint32_t count;
	uint32_t record_size;
};
#define SBX_SECTION_CRITICAL 1u

enum sbx_kind { SBX_POLICY, SBX_SITE };

/* Strings: bytes, each ended by NUL, none holding one.  A reference is the
 * offset of the first byte; offset 0 is the empty string.  One that is the end
 * of another shares its bytes. */

/*
 * A template is a string with marks in it.  The byte behind a mark is its
 * meaning plus SBX_MARK_BASE, or a wildcard as it is, so it never looks like a
 * mark itself; in other strings the three bytes do not occur.
 */
enum sbx_mark {
	SBX_MARK_VAR = 1, /* the value of a variable, as it is */
	SBX_MARK_WILD,    /* a byte of pattern syntax: * ? [ ] or the escape \ */
	SBX_MARK_BYTE,    /* the byte 1, 2 or 3 */
};
#define SBX_MARK_BASE 0x40
struct sbx_tmpl { /* a path or a value, with variables */
	uint32_t text; /* string, or SBX_NONE: absent */
};

enum sbx_var {
	SBX_VAR_HOME, SBX_VAR_CWD, SBX_VAR_WORKSPACE, SBX_VAR_USER, SBX_VAR_UID,
	SBX_VAR_RUNTIME, SBX_VAR_GITDIR, SBX_VAR_GITCOMMON, SBX_VAR_GITHOOKS,
	SBX_VAR_CA_BUNDLE, SBX_VAR_POLICY, SBX_VAR_LAUNCHER, SBX_VAR_SIBLING,
	SBX_VAR_COUNT,
	SBX_VAR_PARAM = 64, /* + index in SBX_SEC_PARAMS */
};
#define SBX_PARAM_MAX 64

/* What every rule carries. */
struct sbx_head {
	uint32_t loc;  /* in SBX_SEC_LOCS, or SBX_NONE */
	uint16_t note; /* in SBX_SEC_NOTES, or SBX_NONE16 */
	uint8_t flags; /* SBX_F_* */
	uint8_t verb;  /* of the section's enum sbx_*_verb; 0 where it has none */
};
#define SBX_F_OPTIONAL 1u
#define SBX_F_BEST_EFFORT 2u
#define SBX_F_SNAPSHOT 4u
#define SBX_F_COMPAT 8u
#define SBX_F_CREATE 16u
#define SBX_F_OVERRIDE 32u
#define SBX_F_SHARED 64u /* system call: `without namespaces` or `without network` */

struct sbx_note { /* strings or SBX_NONE */
	uint32_t compat, because, guards, waive_code, waive_why;
};

struct sbx_loc {
	uint32_t line : 20, file : 11; /* in SBX_SEC_FILES */
	uint32_t more : 1; /* the next record is another place of the same rule */
};
#define SBX_LINE_MAX ((1u << 20) - 1)
#define SBX_FILES_MAX (1u << 11)
struct sbx_file {
	uint32_t name; /* string: machine-independent */
};

struct sbx_meta { /* exactly one */
	uint32_t name, summary;         /* strings */
	struct sbx_tmpl workspace;      /* absent: none (site) */
	uint32_t workspace_rule;        /* in SBX_SEC_FS, or SBX_NONE */
	uint32_t command_first, command_count; /* in SBX_SEC_TMPLS */
	uint32_t net_mode;              /* enum sbx_net_mode */
	struct sbx_head net_mode_head;
	uint32_t sys_default;           /* in SBX_SEC_SYS_STMTS */
	uint32_t unbounded;             /* site: bit 1 << enum sbx_unbounded */
	uint32_t compiler;              /* string: version that wrote this */
};
enum sbx_net_mode { SBX_NET_NONE, SBX_NET_PROXY, SBX_NET_HOST };
enum sbx_unbounded {
	SBX_UNBOUNDED_FS, SBX_UNBOUNDED_ENV, SBX_UNBOUNDED_SYSCALLS,
	SBX_UNBOUNDED_NET, SBX_UNBOUNDED_CREDENTIAL, SBX_UNBOUNDED_PROCESS,
	SBX_UNBOUNDED_LIMITS, SBX_UNBOUNDED_SLURM,
};

enum sbx_param_type {
	SBX_PARAM_PATH, SBX_PARAM_STRING, SBX_PARAM_INT, SBX_PARAM_SIZE,
	SBX_PARAM_TIME,
};
struct sbx_param { /* a `param` of the main file: set with -D */
	struct sbx_head head;
	uint32_t name;
	uint32_t type;
	struct sbx_tmpl value;              /* default */
	struct sbx_tmpl under;              /* absent: anywhere */
	uint32_t choice_first, choice_count; /* `in`: SBX_SEC_TMPLS */
	uint64_t max;                       /* `max`; UINT64_MAX: none */
};

#define SBX_READ 1u
#define SBX_WRITE 2u
#define SBX_EXEC 4u
enum sbx_fs_verb {
	SBX_FS_GRANT,  /* read, exec, write, write exec, workspace */
	SBX_FS_COPY,   /* a private copy, thrown away */
	SBX_FS_TMP,    /* an empty tmpfs */
	SBX_FS_DEVICE,
	SBX_FS_DENY,
	SBX_FS_SEAL,
};
enum sbx_placeholder { /* what stands for a denied name that is absent */
	SBX_PLACEHOLDER_DEFAULT, /* not said: a directory */
	SBX_PLACEHOLDER_DIR,
	SBX_PLACEHOLDER_FILE,    /* with placeholder_text */
};
struct sbx_fs_rule {
	struct sbx_head head;
	struct sbx_tmpl path;
	uint8_t rights;      /* SBX_READ | ...: granted or taken */
	uint8_t placeholder; /* enum sbx_placeholder */
	uint16_t extra;      /* in SBX_SEC_FS_EXTRAS, or SBX_NONE16 */
};
struct sbx_fs_extra { /* what few rules say */
	uint32_t except_first, except_count; /* seal: SBX_SEC_TMPLS */
	uint32_t placeholder_text; /* string or SBX_NONE */
	uint32_t size_kib;         /* tmp: 0 = not said */
};

enum sbx_env_verb { SBX_ENV_PASS, SBX_ENV_SET, SBX_ENV_DENY, SBX_ENV_SEAL };
struct sbx_env_rule {
	struct sbx_head head;
	uint32_t name;         /* string; may hold * */
	struct sbx_tmpl value; /* set */
};

enum sbx_sys_verb { SBX_SYS_ALLOW, SBX_SYS_DENY, SBX_SYS_SEAL, SBX_SYS_DEFAULT };
enum sbx_sys_action { SBX_ACT_ALLOW, SBX_ACT_ERRNO, SBX_ACT_KILL };
enum sbx_arch { SBX_X86_64, SBX_AARCH64, SBX_ARCH_COUNT };
struct sbx_sys_stmt {
	struct sbx_head head;
	uint32_t cond_first; /* all must hold */
	uint8_t cond_count;  /* 0: no `where` */
	uint8_t action;
	uint16_t error; /* SBX_ACT_ERRNO: Linux errno (same on both) */
};
enum sbx_sys_rank { SBX_RANK_DEFAULT, SBX_RANK_GROUP, SBX_RANK_NAME,
		    SBX_RANK_WHERE, SBX_RANK_SEAL };
struct sbx_sys_entry { /* statement speaks of this system call */
	uint16_t nr[SBX_ARCH_COUNT]; /* SBX_SYS_ABSENT: not on that machine */
	uint16_t stmt : 13, rank : 3;
};
#define SBX_SYS_STMTS_MAX (1u << 13)
#define SBX_SYS_ABSENT 0xffffu
enum sbx_cond_op { SBX_EQ, SBX_NE, SBX_LT, SBX_LE, SBX_GT, SBX_GE, SBX_IN };
struct sbx_sys_cond { /* (arg & mask) op value */
	uint8_t arg;       /* 0-5 */
	uint8_t op;
	uint8_t width;     /* 4 or 8 bytes: what the kernel reads */
	uint8_t is_signed; /* for < <= > >= */
	uint32_t value_first, value_count; /* SBX_SEC_VALUES; 1 unless SBX_IN */
	uint32_t name;     /* string: what the signature calls it, or SBX_NONE */
	uint64_t mask;     /* all ones of the width when not written */
};
struct sbx_sys_name { /* `number`: calls newer than libseccomp's table */
	uint32_t name;
	uint32_t nr; /* the same on every architecture */
};
/* BPF sections: struct sock_filter {u16 code; u8 jt, jf; u32 k}, 8 bytes. */
struct sbx_bpf {
	uint16_t code;
	uint8_t jt, jf;
	uint32_t k;
};

struct sbx_landlock { /* exactly one; rights of every ABI, masked at launch */
	uint64_t handled_fs, handled_net, scoped;
	uint64_t read, write, exec; /* rights that each of ours stands for */
	uint64_t device;            /* added for `device` */
};

enum sbx_net_verb { SBX_NETV_ALLOW, SBX_NETV_DENY, SBX_NETV_SEAL, SBX_NETV_LISTEN };
enum sbx_net_kind {
	SBX_NETK_HOST,    /* exact name */
	SBX_NETK_SUFFIX,  /* *.name, whole labels, not the apex */
	SBX_NETK_ANY,     /* * */
	SBX_NETK_ADDRESS, /* literal or CIDR */
	SBX_NETK_UNIX, SBX_NETK_ABSTRACT,
	SBX_NETK_PORT,    /* listen PORT */
};
struct sbx_cidr {
	uint8_t address[16]; /* IPv4 as ::ffff:a.b.c.d */
	uint32_t bits;       /* of the 128 */
};
struct sbx_net_rule {
	struct sbx_head head;
	uint8_t kind;
	uint8_t reserved;
	uint16_t port;                  /* 0: every port */
	uint32_t host;                  /* name without "*.", abstract name */
	struct sbx_cidr cidr;           /* SBX_NETK_ADDRESS */
	struct sbx_tmpl path;           /* SBX_NETK_UNIX */
	uint32_t at_first, at_count;    /* SBX_SEC_CIDRS */
	uint32_t method_first, method_count; /* SBX_SEC_TMPLS */
	struct sbx_tmpl prefix;
};

enum sbx_source { SBX_SOURCE_FILE, SBX_SOURCE_ENV, SBX_SOURCE_EXEC };
enum sbx_scheme { SBX_SCHEME_RAW, SBX_SCHEME_BEARER, SBX_SCHEME_BASIC };
struct sbx_credential {
	struct sbx_head head;
	uint32_t name;
	uint32_t source;                     /* enum sbx_source */
	uint32_t source_first, source_count; /* SBX_SEC_TMPLS: file, name, argv */
	uint32_t json;                       /* string ".a.b" or SBX_NONE */
	uint32_t host_first, host_count;     /* SBX_SEC_TMPLS: host:port */
	uint32_t header, scheme, basic_user; /* strings and enum sbx_scheme */
	uint32_t refresh_s, lifetime_s;      /* 0: not said */
};

enum sbx_limit {
	SBX_LIMIT_MEMORY, SBX_LIMIT_PROCESSES, SBX_LIMIT_CPUS, SBX_LIMIT_CPU_TIME,
	SBX_LIMIT_OPEN_FILES, SBX_LIMIT_FILE_SIZE, SBX_LIMIT_CORE_SIZE,
	SBX_LIMIT_WALL_TIME, SBX_LIMIT_COUNT,
};
struct sbx_limit_rule { /* bytes, counts, seconds */
	struct sbx_head head;
	uint32_t limit;
	uint32_t zero; /* said, so that no compiler leaves what was there before */
	uint64_t value;
};

enum sbx_process {
	SBX_PROCESS_USERNS,        /* allow user-namespaces */
	SBX_PROCESS_TERMINAL_NONE, /* terminal none */
	SBX_PROCESS_TERMINAL,      /* terminal pty */
	SBX_PROCESS_PASS_FD,       /* pass fd N: value */
	SBX_PROCESS_SHARE_PROCESSES, /* share ...: where a backend cannot keep apart */
	SBX_PROCESS_SHARE_SIGNALS,
	SBX_PROCESS_SHARE_TERMINALS,
	SBX_PROCESS_SHARE_ATTRIBUTES,
};
struct sbx_process_rule {
	struct sbx_head head;
	uint32_t what;
	uint32_t value;
};

enum sbx_require {
	SBX_REQUIRE_LANDLOCK, /* value: ABI */
	SBX_REQUIRE_KERNEL,   /* value: major << 16 | minor */
	SBX_REQUIRE_BACKEND,  /* list of names */
	SBX_REQUIRE_LIMITS,   /* list: "cgroup" */
	SBX_REQUIRE_PROOF,    /* value: seconds */
	SBX_REQUIRE_SIGNED,
};
struct sbx_require_rule {
	struct sbx_head head;
	uint32_t what;
	uint32_t value;
	uint32_t first, count; /* SBX_SEC_TMPLS */
};

struct sbx_slot {
	struct sbx_head head;
	uint32_t name;
	uint32_t rights;
	struct sbx_tmpl under;
	uint32_t for_s, count;
};

enum sbx_slurm_verb {
	SBX_SLURM_OPTION,  /* declares: text = long name, see fields */
	SBX_SLURM_SCOPE, SBX_SLURM_ALLOW, SBX_SLURM_DENY, SBX_SLURM_SEAL,
	SBX_SLURM_FORCE, SBX_SLURM_ADD, SBX_SLURM_BUDGET, SBX_SLURM_SHOW,
	SBX_SLURM_JOBS,
};
enum sbx_slurm_takes { /* what an option takes: all but the first and third need a value */
	SBX_TAKES_NOTHING, SBX_TAKES_VALUE, SBX_TAKES_OPTIONAL,
	/* amounts, in Slurm's own way of writing */
	SBX_TAKES_TIME,    /* minutes, M:S, H:M:S, D-H[:M[:S]] */
	SBX_TAKES_MEMORY,  /* megabytes, or with K M G T P */
	SBX_TAKES_NUMBER,
	SBX_TAKES_NODES,   /* N or N-M, with k m */
	SBX_TAKES_ARRAY,   /* the tasks of N,N-M:STEP%LIMIT */
	SBX_TAKES_GRES,    /* NAME[:TYPE][:COUNT],... */
	SBX_TAKES_GPUS,    /* [TYPE:]COUNT,... */
	/* what the chaperon looks into, whatever the policy allows */
	SBX_TAKES_HOSTS,     /* nodes by name: no file of names */
	SBX_TAKES_JOBS,      /* ids of jobs */
	SBX_TAKES_NAME,      /* nothing that a shell or a file's name would take for more */
	SBX_TAKES_DIRECTORY, /* where the job runs */
	SBX_TAKES_INPUT,     /* files that the job opens itself, inside */
	SBX_TAKES_OUTPUT,
	SBX_TAKES_ERRORS,
	SBX_TAKES_ENVIRONMENT, /* variables that the job gets */
	SBX_TAKES_COMMENT,
	SBX_TAKES_COLUMNS,   /* what a listing shows */
	SBX_TAKES_SCRIPT,    /* a shell command in the place of a script */
	SBX_TAKES_USER,      /* the user whose session it is, by name or number */
	SBX_TAKES_CLUSTERS,  /* all: this one */
	SBX_TAKES_ADDRESS,   /* of mail: a word of its own for the program that sends it */
	SBX_TAKES_COUNT
};
#define SBX_SLURM_KIND_WORDS \
	"flag", "value", "optional-value", "time", "memory", "number", "nodes", "array", "gres", \
	"gpus", "hosts", "jobs", "name", "directory", "input", "output", "errors", "environment", \
	"comment", "columns", "script", "user", "clusters", "address"
#define SBX_SLURM_NO_SCRIPT 1u /* has no effect in a script's #SBATCH lines */
struct sbx_slurm_rule {
	struct sbx_head head;
	uint8_t value_kind;   /* OPTION: enum sbx_slurm_takes */
	uint8_t op;           /* ALLOW: 0 none, 1 in, 2 max */
	uint8_t flags;        /* OPTION: SBX_SLURM_* */
	uint8_t reserved;
	uint32_t command;     /* string or SBX_NONE; one rule a command */
	uint32_t option;      /* "--time" or SBX_NONE */
	uint32_t short_name;  /* OPTION: "-t" or SBX_NONE */
	uint32_t env;         /* OPTION: string or SBX_NONE */
	/* SBX_SEC_TMPLS: as written */
	uint32_t value_first, value_count;
	uint32_t period_s;    /* BUDGET ... for 1d */
};

enum sbx_polarity { SBX_CAN, SBX_CANNOT, SBX_NEVER }; /* an assertion's verb */
enum sbx_action {
	SBX_DO_READ, SBX_DO_WRITE, SBX_DO_EXEC, SBX_DO_CONNECT, SBX_DO_CALL,
	SBX_DO_SEE, SBX_DO_SUBMIT, SBX_DO_USE,
};
struct sbx_assert { /* one object each */
	struct sbx_head head;
	uint8_t action;
	uint8_t is_path;             /* read write exec, connect unix:PATH */
	uint16_t port;               /* connect */
	struct sbx_tmpl object;      /* a path, or a string without the port */
	uint16_t nr[SBX_ARCH_COUNT]; /* call */
};

enum sbx_section_id {
	SBX_SEC_STRINGS = 1,
	SBX_SEC_TMPLS,     /* struct sbx_tmpl: lists of templates */
	SBX_SEC_VALUES,    /* uint64_t */
	SBX_SEC_CIDRS,
	SBX_SEC_NOTES,
	SBX_SEC_META,
	SBX_SEC_PARAMS,
	SBX_SEC_FS,
	SBX_SEC_FS_EXTRAS,
	SBX_SEC_ENV,
	SBX_SEC_SYS_STMTS,
	SBX_SEC_SYS_ENTRIES, /* sorted by nr[SBX_X86_64], then nr[SBX_AARCH64] */
	SBX_SEC_SYS_CONDS,
	SBX_SEC_SYS_NAMES,
	SBX_SEC_BPF_X86_64,
	SBX_SEC_BPF_AARCH64,
	SBX_SEC_BPF_SHARED_X86_64, /* beside these on a backend without namespaces: */
	SBX_SEC_BPF_SHARED_AARCH64, /* the SBX_F_SHARED statements; absent: none */
	SBX_SEC_LANDLOCK,
	SBX_SEC_NET,
	SBX_SEC_CREDENTIALS,
	SBX_SEC_LIMITS,
	SBX_SEC_PROCESS,
	SBX_SEC_REQUIRE,
	SBX_SEC_SLOTS,
	SBX_SEC_SLURM,
	SBX_SEC_ASSERTS,
	SBX_SEC_FILES,     /* not critical, as the next: --strip leaves them out */
	SBX_SEC_LOCS,
	SBX_SEC_JOBS,      /* critical; bytes: the whole blob of another policy, which Slurm
	                    * jobs run under: there where SLURM has `jobs`, and in no blob
	                    * that is itself in one */
	SBX_SEC_COUNT
};

struct sbx_blob {
	const uint8_t *base;
	uint32_t size;
	const struct sbx_header *header;
	struct {
		const void *records;
		uint32_t count;
	} section[SBX_SEC_COUNT];
};

/*
 * Checks all of @data and fills @blob, which points into it.  Returns NULL,
 * or a one-line reason ("truncated: the header says 812 bytes, there are
 * 800"), valid until the next call.
 */
const char *sbx_blob_open(const void *data, size_t size, struct sbx_blob *blob);
/* The policy in it that Slurm jobs run under, as it was checked with the rest; false: they
 * run under @blob itself. */
bool sbx_blob_jobs(const struct sbx_blob *blob, struct sbx_blob *jobs);

/* Typed access: SBX_COUNT(blob, FS), SBX_AT(blob, FS, sbx_fs_rule, i). */
#define SBX_COUNT(blob, id) ((blob)->section[SBX_SEC_##id].count)
#define SBX_AT(blob, id, type, index)                                         \
	(&((const struct type *)(blob)->section[SBX_SEC_##id].records)[index])
static inline const struct sbx_meta *sbx_meta(const struct sbx_blob *blob)
{
	return SBX_AT(blob, META, sbx_meta, 0);
}
/* The string at @ref; "" for SBX_NONE. */
const char *sbx_string(const struct sbx_blob *blob, uint32_t ref);
static inline bool sbx_present(struct sbx_tmpl tmpl)
{
	return tmpl.text != SBX_NONE;
}
/*
 * The piece of a template at @at: its mark, or 0 for a byte as it is, and what
 * it stands for (a variable, a byte).  Returns where the next one is, NULL at
 * the end.
 */
const char *sbx_piece(const char *at, unsigned *mark, unsigned *value);
/* What @rule says beside the common; never NULL. */
const struct sbx_fs_extra *sbx_fs_extra(const struct sbx_blob *blob,
					const struct sbx_fs_rule *rule);
/* "std/git.pol:12" of a rule, or "(stripped)"; into @out. */
void sbx_place(const struct sbx_blob *blob, uint32_t loc, char *out, size_t size);

/* printable.c: text of strangers, which must not reach a terminal raw. */
bool sbx_is_printable(const char *text);
/* With `?` for each byte of what does more there than to be read. */
void sbx_make_printable(char *text);

/* SHA-256 (FIPS 180-4). */
struct sbx_sha256 {
	uint32_t state[8];
	uint64_t length;
	bool fast; /* by the processor's own instructions */
	uint8_t block[64];
};
void sbx_sha256_init(struct sbx_sha256 *sum);
void sbx_sha256_add(struct sbx_sha256 *sum, const void *data, size_t size);
void sbx_sha256_end(struct sbx_sha256 *sum, uint8_t digest[32]);
/* The digest of a whole blob, its digest field taken as zero. */
void sbx_blob_digest(const void *data, size_t size, uint8_t digest[32]);

#endif
