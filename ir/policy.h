/*
 * ir/policy.h - the policy model: all files put together, nothing of syntax.
 *
 * compiler/ lowers syntax trees into this; emit/ writes it out.  Enumerations
 * are the wire format's (blob/blob.h), so that a value means one thing
 * everywhere.  Everything lives in the compilation's arena.
 */
#ifndef SBX_IR_POLICY_H
#define SBX_IR_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/source.h"
#include "base/str.h"
#include "blob/blob.h"

enum seg_kind {
	SBX_SEG_TEXT, /* bytes as they are */
	SBX_SEG_GLOB, /* pattern text: * ? [..] ** are wildcards, \ escapes */
	SBX_SEG_VAR,  /* the value of a variable, as it is */
};
struct seg {
	enum seg_kind kind;
	struct str text; /* SBX_SEG_TEXT, SBX_SEG_GLOB */
	unsigned var;    /* SBX_SEG_VAR: enum sbx_var or SBX_VAR_PARAM + n */
};
struct tmpl {
	const struct seg *segs;
	size_t count; /* 0: absent */
};
struct tmpls {
	const struct tmpl *items;
	size_t count;
};

/* A rule's places: the first is where it stands, more where others say it. */
struct place {
	struct span span;
	struct place *next;
};
/* `waive CODE "why"`: one for all rules of its statement, so that one use of it counts. */
struct waiver {
	struct str code, why;
	struct span span;
	bool main_file; /* as of a rule */
	bool used;      /* it silenced something: lint, compiler/assert.c */
	struct waiver *next;
};
struct rule_head {
	struct place place;
	unsigned flags;   /* SBX_F_* */
	struct str compat, because, guards; /* ptr NULL: none */
	struct waiver *waivers; /* in the order of the statement */
	/* Where it came from, for the merging rules; not written out. */
	bool main_file;   /* the policy itself, or what it extends */
	unsigned file;    /* index into struct policy files */
};

struct fs_rule {
	struct rule_head head;
	struct tmpl path;
	struct tmpls excepts;
	enum sbx_fs_verb verb;
	unsigned rights;
	enum sbx_placeholder placeholder;
	struct str placeholder_text;
	uint64_t size; /* bytes; 0: not said */
};
struct env_rule {
	struct rule_head head;
	enum sbx_env_verb verb;
	struct str name;
	struct tmpl value;
};
struct sys_cond {
	unsigned arg, width;
	bool is_signed;
	enum sbx_cond_op op;
	uint64_t mask;
	const uint64_t *values;
	size_t value_count;
	struct str name; /* of the argument, for people; ptr NULL: none */
};
enum without { /* where alone a statement holds; all but NOTHING have SBX_F_SHARED */
	SBX_WITHOUT_NOTHING,    /* everywhere */
	SBX_WITHOUT_NAMESPACES, /* on a backend that makes none */
	SBX_WITHOUT_NETWORK,    /* there, in a policy that has not the host's network */
	SBX_WITHOUT_TCP,        /* there, in a policy that has no use for TCP either */
};
struct sys_stmt { /* one verb, action and `where`; the calls it speaks of */
	struct rule_head head;
	enum without without;
	enum sbx_sys_verb verb;
	enum sbx_sys_action action;
	unsigned error;
	const struct sys_cond *conds;
	size_t cond_count;
	struct {
		VEC_OF(struct sys_use)
	} uses;
};
struct sys_use {
	struct str name;           /* for messages and libseccomp */
	uint16_t nr[SBX_ARCH_COUNT]; /* SBX_SYS_ABSENT where there is none */
	enum sbx_sys_rank rank;
};
struct sys_name { /* `number`: newer than libseccomp knows */
	struct str name;
	uint32_t nr;
};
struct net_rule {
	struct rule_head head;
	enum sbx_net_verb verb;
	enum sbx_net_kind kind;
	unsigned port;
	struct str host;
	struct sbx_cidr cidr;
	struct tmpl path;
	const struct sbx_cidr *at;
	size_t at_count;
	struct tmpls methods;
	struct tmpl prefix;
};
struct credential {
	struct rule_head head;
	struct str name;
	enum sbx_source source;
	struct tmpls source_words;
	struct str json;
	struct tmpls hosts;
	struct str header, basic_user;
	enum sbx_scheme scheme;
	uint32_t refresh_s, lifetime_s;
};
struct limit_rule {
	struct rule_head head;
	enum sbx_limit limit;
	uint64_t value;
};
struct process_rule {
	struct rule_head head;
	enum sbx_process what;
	uint32_t value;
};
struct require_rule {
	struct rule_head head;
	enum sbx_require what;
	uint32_t value;
	struct tmpls words;
};
struct slot {
	struct rule_head head;
	struct str name;
	unsigned rights;
	struct tmpl under;
	uint32_t for_s, count;
};
struct slurm_rule {
	struct rule_head head;
	enum sbx_slurm_verb verb;
	unsigned value_kind, op, flags; /* as in the blob */
	struct str command, option, short_name, env; /* ptr NULL: none */
	struct tmpls values;
	uint32_t period_s;
};
struct assertion {
	struct rule_head head;
	enum sbx_polarity polarity;
	enum sbx_action action;
	unsigned port;
	struct tmpl path;
	struct str text;
	uint16_t nr[SBX_ARCH_COUNT];
	bool lifted; /* made void by an override; not written out */
};
struct param {
	struct rule_head head;
	struct str name;
	enum sbx_param_type type;
	struct tmpl value, under;
	struct tmpls choices;
	uint64_t max;
};

struct policy {
	enum sbx_kind kind;
	struct str name, summary;
	struct rule_head head; /* of the `policy` line; its place is the name */
	struct { VEC_OF(struct waiver *) } waivers; /* each once */
	struct tmpl workspace;
	unsigned workspace_rights;
	size_t workspace_rule; /* index in fs, or SIZE_MAX */
	struct tmpls command;
	enum sbx_net_mode net_mode;
	bool net_mode_said;
	struct rule_head net_mode_head;
	struct sys_stmt sys_default; /* verb SBX_SYS_DEFAULT, no uses */
	bool sys_default_said;
	unsigned unbounded;
	struct { VEC_OF(const struct source *) } files;
	struct { VEC_OF(struct param) } params;
	struct { VEC_OF(struct fs_rule) } fs;
	struct { VEC_OF(struct env_rule) } env;
	struct { VEC_OF(struct sys_stmt) } sys;
	struct { VEC_OF(struct sys_name) } sys_names;
	struct { VEC_OF(struct net_rule) } net;
	struct { VEC_OF(struct credential) } credentials;
	struct { VEC_OF(struct limit_rule) } limits;
	struct { VEC_OF(struct process_rule) } process;
	struct { VEC_OF(struct require_rule) } require;
	struct { VEC_OF(struct slot) } slots;
	struct { VEC_OF(struct slurm_rule) } slurm;
	struct str jobs; /* the blob of the policy that `jobs` names; ptr NULL: none does */
	struct { VEC_OF(struct assertion) } asserts;
};

#endif
