/*
 * grammar/parse.h - the state of one parse; private to grammar/.
 *
 *	bytes.c   what no policy's text may hold
 *	lexer.l   text -> raw tokens, with words.c for words and strings
 *	tokens.c  raw tokens -> what the grammar sees: an END after each
 *	          statement, braces in balance
 *	parser.y  tokens -> nodes
 *	build.c   the nodes, and what a modifier can have wrong
 *	errors.c  messages on tokens in the wrong place
 *
 * A lexical error is reported where it is found and becomes the error token,
 * of which the parser says nothing.  Either way the parser then skips to the
 * end of the statement, or to its block, and the rest of the statement is
 * silent: one statement, one message.
 */
#ifndef SBX_GRAMMAR_PARSE_H
#define SBX_GRAMMAR_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "grammar/ast.h"

/* A block may stand in a block may stand in ... */
#define PARSE_DEPTH_MAX 16

/* Lists under construction. */
struct words {
	struct ast_word *first, *last;
};
struct binds {
	struct ast_bind *first, *last;
};
struct conds {
	struct ast_cond *first, *last;
};
struct mods {
	struct ast_mod *first, *last;
};
struct stmts {
	struct ast_stmt *first, *last;
};

struct reserved {
	enum ast_mod_kind kind;
	struct span span;
};
struct comparison {
	enum ast_cond_op op;
	struct span span;
};

union YYSTYPE;

struct token {
	int type; /* of parser.h; 0 before the first */
	struct span span;
};

/* Which part of a statement the tokens before the current one have reached. */
enum clause { CLAUSE_HEAD, CLAUSE_VALUE, CLAUSE_MOD, CLAUSE_WITH, CLAUSE_WHERE };

struct parse {
	struct arena *arena;
	struct diags *diags;
	const struct source *source;
	struct ast_file *file;

	void *scanner;     /* flex's */
	uint32_t start;    /* where the token being read starts */
	uint32_t offset;   /* where it ends */
	uint32_t word_end; /* where the last word or string ended */

	struct token last, current;        /* the token the parser has, the one before */
	bool holding;                      /* the token after it has been read ... */
	int held;                          /* ... and is of this type, without a value */
	struct span open[PARSE_DEPTH_MAX]; /* the braces of open blocks */
	unsigned depth;
	struct ast_word *verb; /* of the statement being read */
	enum clause clause;
	unsigned ordinal; /* of the token being read: 1 is the verb */

	/* An error was reported in this statement: be silent until its end. */
	bool poisoned;
};

/* lexer.l */
void lexer_open(struct parse *p);
void lexer_close(struct parse *p);
int lexer_read(struct parse *p, union YYSTYPE *value);

/* words.c: the lexer has found a word, a string; the type of the token. */
int token_word(struct parse *p, union YYSTYPE *value);
int token_string(struct parse *p, union YYSTYPE *value);
/* False: it is glued to a word, which is reported. */
bool token_comment(struct parse *p);
/* The text from p->start to p->offset as a word. */
struct ast_word *token_text(struct parse *p, enum ast_word_kind kind);

/* tokens.c: what the parser calls for a token. */
int parse_token(union YYSTYPE *value, struct parse *p);

/* errors.c */
struct span span_at(const struct parse *p, uint32_t start, uint32_t end);
/* Reports, once a statement, and poisons it. */
void parse_error(struct parse *p, enum diag_code code, struct span span, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for the token from p->start to p->offset; returns the error token. */
int lexer_error(struct parse *p, enum diag_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The current token cannot stand where it stands. */
void parse_report_unexpected(struct parse *p);

/* bytes.c: what no policy's text may hold.  False: it is not worth parsing. */
bool parse_check_bytes(struct parse *p);

/* build.c */
struct ast_bind *build_bind(struct parse *p, struct ast_word *name, struct ast_word *value);
struct ast_cond *build_cond(struct parse *p, struct ast_word *name, struct ast_word *mask,
			    enum ast_cond_op op, struct words values);
struct ast_mod *build_mod(struct parse *p, struct reserved word, struct words words);
struct ast_mod *build_with(struct parse *p, struct reserved word, struct binds binds);
struct ast_mod *build_where(struct parse *p, struct reserved word, struct conds conds);
/* Adds @mod unless its like is there already. */
struct mods build_add_mod(struct parse *p, struct mods mods, struct ast_mod *mod);
struct ast_stmt *build_stmt(struct parse *p, struct ast_word *verb, struct words items,
			    struct ast_word *value, struct mods mods);
struct stmts build_block(struct ast_stmt *stmt, struct stmts block);
/* The statement an error is in. */
struct ast_stmt *build_poisoned(struct parse *p);
/* @stmt, followed by what was in its way: @bad, which may be empty. */
struct stmts build_end(struct ast_stmt *stmt, struct stmts bad);
struct stmts build_join(struct stmts a, struct stmts b);

#define LIST_ADD(list, node)                                                                       \
	(*((list).last ? &(list).last->next : &(list).first) = (node), (list).last = (node))
/* @node is evaluated twice. */
#define LIST_ONE(type, node) ((struct type){ (node), (node) })

#endif
