/*
 * The grammar: one form of statement, at every depth.
 *
 *	verb items [= value] modifiers [{ block }]
 *
 * tokens.c gives each statement exactly one END, before a `}` too, and keeps
 * braces in balance, so an error can be skipped (`bad`) without losing the
 * block it is in.  Actions only call build.c, which also says what a modifier
 * takes.
 */
%code requires {
#include "grammar/parse.h"
}
%code {
#define yylex parse_token

static void yyerror(struct parse *p, const char *what)
{
	(void)p;
	BUG(what); /* the parser's stack: it cannot grow past PARSE_DEPTH_MAX blocks */
}
}

%define api.pure full
%define parse.error custom
%param { struct parse *p }

%union {
	struct ast_word *word;
	struct ast_bind *bind;
	struct ast_cond *cond;
	struct ast_mod *mod;
	struct ast_stmt *stmt;
	struct words words;
	struct binds binds;
	struct conds conds;
	struct mods mods;
	struct stmts stmts;
	struct reserved reserved;
	enum ast_cond_op op;
}

%token END "end of the statement"
%token <word> NAME "name" OBJECT "path, group or option" STRING "string"
%token <op> COMPARISON "comparison"
%token <reserved> MODIFIER "modifier" IN "in" WITH "with" WHERE "where"
%token AND "and"

%type <word> word
%type <words> words some
%type <bind> bind
%type <binds> binds
%type <cond> cond
%type <conds> conds
%type <mod> mod
%type <mods> mods
%type <stmt> head recovered
%type <stmts> stmts end bad blocks

%%

file:	stmts				{ p->file->stmts = $1.first; }

stmts:	%empty				{ $$ = (struct stmts){ 0 }; }
|	stmts head end			{ $$ = build_join($1, build_end($2, $3)); }
|	stmts head '{' stmts '}' end	{ $$ = build_join($1, build_join(build_block($2, $4), $6)); }
|	stmts bad			{ $$ = build_join($1, $2); }

end:	END				{ $$ = (struct stmts){ 0 }; }
|	bad

bad:	error END recovered		{ $$ = LIST_ONE(stmts, $3); }
|	blocks END
|	blocks error END recovered	{ $$ = build_join($1, LIST_ONE(stmts, $4)); }

blocks:	error '{' recovered stmts '}'	{ $$ = build_block($3, $4); }
|	blocks error '{' recovered stmts '}' { $$ = build_join($1, build_block($4, $5)); }

recovered: %empty			{ $$ = build_poisoned(p); yyerrok; }

head:	NAME words mods			{ $$ = build_stmt(p, $1, $2, NULL, $3); }
|	NAME some '=' word mods		{ $$ = build_stmt(p, $1, $2, $4, $5); }

words:	%empty				{ $$ = (struct words){ 0 }; }
|	some

some:	word				{ $$ = LIST_ONE(words, $1); }
|	some word			{ $$ = $1; LIST_ADD($$, $2); }

word:	NAME | OBJECT | STRING

mods:	%empty				{ $$ = (struct mods){ 0 }; }
|	mods mod			{ $$ = build_add_mod(p, $1, $2); }

mod:	MODIFIER words			{ $$ = build_mod(p, $1, $2); }
|	IN words			{ $$ = build_mod(p, $1, $2); }
|	WITH				{ $$ = build_mod(p, $1, (struct words){ 0 }); }
|	WITH some			{ $$ = build_mod(p, $1, $2); }
|	WITH binds			{ $$ = build_with(p, $1, $2); }
|	WHERE conds			{ $$ = build_where(p, $1, $2); }

binds:	bind				{ $$ = LIST_ONE(binds, $1); }
|	binds bind			{ $$ = $1; LIST_ADD($$, $2); }

bind:	NAME '=' word			{ $$ = build_bind(p, $1, $3); }

conds:	cond				{ $$ = LIST_ONE(conds, $1); }
|	conds AND cond			{ $$ = $1; LIST_ADD($$, $3); }

cond:	NAME COMPARISON word		{ $$ = build_cond(p, $1, NULL, $2, LIST_ONE(words, $3)); }
|	NAME '&' word COMPARISON word	{ $$ = build_cond(p, $1, $3, $4, LIST_ONE(words, $5)); }
|	NAME IN some			{ $$ = build_cond(p, $1, NULL, AST_IN, $3); }

%%

static int yyreport_syntax_error(const yypcontext_t *context, struct parse *p)
{
	(void)context; /* the tokens tell more than the parser's states */
	parse_report_unexpected(p);
	return 0;
}

struct ast_file *parse_file(struct arena *arena, struct diags *diags, const struct source *source)
{
	struct parse p = { .arena = arena, .diags = diags, .source = source };

	p.file = ARENA_NEW(arena, struct ast_file);
	p.file->source = source;
	if (parse_check_bytes(&p)) {
		lexer_open(&p);
		yyparse(&p);
		lexer_close(&p);
	}
	return p.file;
}
