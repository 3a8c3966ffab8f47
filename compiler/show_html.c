/*
 * compiler/show_html.c - a picture as one page.
 *
 * The page loads nothing (its Content-Security-Policy says so), has no script,
 * and is well-formed XML as well, so that any parser can check it.  All that
 * comes from a policy passes through add_escaped().  No date, no path of this
 * machine: one blob gives the same bytes everywhere.
 */
#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "compiler/render.h"
#include "compiler/show.h"

#define QUIET_NAMES 12
#define DEEPEST     8 /* of the classes d0 to d8 */

static const char *const tones[SHOW_TONE_COUNT] = {
	[SHOW_WRITE] = "write",   [SHOW_EXEC] = "exec",   [SHOW_READ] = "read",
	[SHOW_DEVICE] = "device", [SHOW_PRIVATE] = "own", [SHOW_WAY] = "way",
	[SHOW_PLAIN] = "plain",   [SHOW_HOLE] = "hole",   [SHOW_SHUT] = "shut",
	[SHOW_SEALED] = "sealed",
};

/* Colours keep a contrast of 4.5 to 1 against what is behind them, in both schemes. */
static const char style[] =
    ":root{color-scheme:light dark;--bg:#fbfaf7;--card:#fff;--ink:#1d2126;--dim:#5a626c;"
    "--line:#e3e0d8;--head:#f3f1ea;--link:#0b57a4;"
    "--write:#7a4a00;--write-bg:#fdebc8;--exec:#14602f;--exec-bg:#dcf3e2;"
    "--read:#0b5171;--read-bg:#d9eef8;--device:#6b2d7d;--device-bg:#f3e3f7;"
    "--own:#3b3a9a;--own-bg:#e5e5fb;--shut:#8c1d18;--shut-bg:#fbe3e1;"
    "--sealed:#fff;--sealed-bg:#8c1d18;--hole:#fff;--hole-bg:#a8470a;"
    "--plain:#3d444c;--plain-bg:#e9e9e6;--why:#7d3607;--why-bg:#fff4e6}\n"
    "@media (prefers-color-scheme:dark){:root{--bg:#14171b;--card:#1b1f25;--ink:#e6e8ea;"
    "--dim:#a2abb5;--line:#2f353d;--head:#20252c;--link:#7cb7f0;"
    "--write:#ffd28a;--write-bg:#4a3307;--exec:#98e2ae;--exec-bg:#143d22;"
    "--read:#9ad7f5;--read-bg:#0f3a4f;--device:#e2b5f0;--device-bg:#43204f;"
    "--own:#c3c3ff;--own-bg:#2c2b66;--shut:#ffb4ad;--shut-bg:#541a17;"
    "--sealed:#2a0806;--sealed-bg:#ff9d94;--hole:#2b1200;--hole-bg:#ffab66;"
    "--plain:#cdd3d9;--plain-bg:#333a42;--why:#ffc38f;--why-bg:#33230f}}\n"
    "*{box-sizing:border-box}"
    "body{margin:0;background:var(--bg);color:var(--ink);"
    "font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",\"DejaVu Sans\",sans-serif}"
    "main,header,footer{max-width:72rem;margin:0 auto;padding:0 1.5rem}"
    "header{padding-top:2.5rem}h1{font-size:2rem;line-height:1.2;margin:0 0 .25rem}"
    "h1 small{font-size:.95rem;font-weight:500;color:var(--dim);display:block;"
    "letter-spacing:.08em;text-transform:uppercase}"
    ".summary{font-size:1.1rem;margin:.25rem 0 1rem}"
    "code{font:.875em/1.5 ui-monospace,\"SF Mono\",Menlo,\"DejaVu Sans Mono\",monospace;"
    "overflow-wrap:anywhere}\n"
    "dl.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(14rem,1fr));"
    "gap:.75rem;margin:1.25rem 0}"
    "dl.facts div{background:var(--card);border:1px solid var(--line);border-radius:.6rem;"
    "padding:.6rem .9rem}dl.facts dt{color:var(--dim);font-size:.8rem}"
    "dl.facts dd{margin:0;font-size:1.35rem;font-weight:650;line-height:1.3}\n"
    "nav ul{display:flex;flex-wrap:wrap;gap:.35rem 1.1rem;list-style:none;padding:0;margin:0}"
    "a{color:var(--link)}"
    "a:focus-visible{outline:2px solid var(--link);outline-offset:2px}"
    "section{margin:2.25rem 0}h2{font-size:1.3rem;margin:0 0 .4rem}"
    ".lead{color:var(--dim);margin:.2rem 0 .7rem;max-width:60rem}\n"
    ".wrap{overflow-x:auto;background:var(--card);border:1px solid var(--line);"
    "border-radius:.6rem}"
    "table{border-collapse:collapse;width:100%;font-size:.94rem}"
    "caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}"
    "th,td{text-align:left;vertical-align:top;padding:.42rem .8rem;font-weight:400}"
    "thead th{background:var(--head);color:var(--dim);font-size:.8rem;font-weight:600;"
    "border-bottom:1px solid var(--line)}"
    "tbody tr+tr>*{border-top:1px solid var(--line)}"
    "th[scope=row]{min-width:16rem}td.state{width:6rem;white-space:nowrap}"
    "td.where{color:var(--dim);font-size:.82rem;width:13rem;overflow-wrap:anywhere}"
    "tr.top th code{font-weight:700;font-size:1rem}\n"
    ".said{color:var(--dim);font-size:.88rem}"
    ".name{display:inline-block;margin:0 .7rem 0 0}"
    ".why{margin:.25rem 0 .1rem;padding:.2rem .6rem;background:var(--why-bg);color:var(--why);"
    "border-left:3px solid currentColor;border-radius:0 .3rem .3rem 0;font-size:.88rem;"
    "max-width:46rem}"
    ".tag{display:inline-block;min-width:3.6rem;padding:.05rem .5rem;border-radius:.35rem;"
    "text-align:center;font:600 .8rem/1.5 ui-monospace,Menlo,\"DejaVu Sans Mono\",monospace}"
    ".write{color:var(--write);background:var(--write-bg)}"
    ".exec{color:var(--exec);background:var(--exec-bg)}"
    ".read{color:var(--read);background:var(--read-bg)}"
    ".device{color:var(--device);background:var(--device-bg)}"
    ".own{color:var(--own);background:var(--own-bg)}"
    ".shut{color:var(--shut);background:var(--shut-bg)}"
    ".sealed{color:var(--sealed);background:var(--sealed-bg)}"
    ".hole{color:var(--hole);background:var(--hole-bg)}"
    ".plain{color:var(--plain);background:var(--plain-bg)}.way{color:var(--dim)}\n"
    /* How deep in the tree: room at the left, with a line for each level. */
    ".deep{--pad:calc(.8rem + var(--deep)*1.2rem);padding-left:var(--pad);"
    "background:repeating-linear-gradient(to right,var(--line) 0 1px,transparent 1px 1.2rem)"
    " 1.1rem 0/calc(var(--deep)*1.2rem) 100% no-repeat}"
    ".d1{--deep:1}.d2{--deep:2}.d3{--deep:3}.d4{--deep:4}.d5{--deep:5}.d6{--deep:6}"
    ".d7{--deep:7}.d8{--deep:8}"
    "ul.legend{display:flex;flex-wrap:wrap;gap:.4rem 1.2rem;list-style:none;padding:0;"
    "margin:.2rem 0 .8rem;font-size:.88rem;color:var(--dim)}"
    "footer{padding:1rem 1.5rem 3rem;color:var(--dim);font-size:.82rem}\n"
    "@media (max-width:44rem){td.where{width:auto}th[scope=row]{min-width:10rem}"
    "main,header,footer{padding-left:.8rem;padding-right:.8rem}}"
    "@media print{:root{color-scheme:light}body{background:#fff;font-size:10pt}nav{display:none}"
    "header{padding-top:0}section{margin:1rem 0}tr{break-inside:avoid}"
    "thead{display:table-header-group}.wrap{overflow:visible;border-radius:0}"
    ".tag{-webkit-print-color-adjust:exact;print-color-adjust:exact}}\n";

struct page {
	struct show *show;
	struct text text;
	bool quiet;
};

static void add(struct page *page, const char *html)
{
	while (*html)
		text_byte(&page->text, *html++);
}

static void add_escaped(struct page *page, const char *raw)
{
	const char *text = diag_escape(page->show->arena, str_from(raw));

	for (; *text; text++) {
		/* U+FFFE and U+FFFF are characters of UTF-8, and not of XML. */
		if (!strncmp(text, "\xef\xbf\xbe", 3) || !strncmp(text, "\xef\xbf\xbf", 3)) {
			add(page, text[2] == '\xbe' ? "\\xef\\xbf\\xbe" : "\\xef\\xbf\\xbf");
			text += 2;
			continue;
		}
		switch (*text) {
		case '&':
			add(page, "&amp;");
			break;
		case '<':
			add(page, "&lt;");
			break;
		case '>':
			add(page, "&gt;");
			break;
		case '"':
			add(page, "&quot;");
			break;
		case '\'':
			add(page, "&#39;");
			break;
		default:
			text_byte(&page->text, *text);
		}
	}
}

static void add_between(struct page *page, const char *open, const char *raw, const char *close)
{
	add(page, open);
	add_escaped(page, raw);
	add(page, close);
}

/* ---- the top -------------------------------------------------------------------------- */

static void add_fact(struct page *page, const char *name, const char *value)
{
	add_between(page, "<div><dt>", name, "</dt>");
	add_between(page, "<dd>", value, "</dd></div>\n");
}

static unsigned names_in(const struct show *show, const char *id, enum show_tone tone)
{
	unsigned count = 0;

	for (size_t i = 0; i < show->parts.count; i++) {
		const struct show_part *part = &show->parts.items[i];

		for (size_t n = 0; !strcmp(part->id, id) && n < part->rows.count; n++)
			if (part->rows.items[n].tone == tone)
				count += (unsigned)part->rows.items[n].names.count;
	}
	return count;
}

static const char *number(struct page *page, unsigned value)
{
	return arena_printf(page->show->arena, "%u", value);
}

static void add_facts(struct page *page)
{
	static const char *const modes[] = { "none", "proxy", "host" };
	const struct show *show = page->show;

	add(page, "<dl class=\"facts\">\n");
	add_fact(page, "Writable", number(page, names_in(show, "files", SHOW_WRITE)));
	add_fact(page, "Private", number(page, names_in(show, "files", SHOW_PRIVATE)));
	add_fact(
	    page, "Readable",
	    number(page, names_in(show, "files", SHOW_READ) + names_in(show, "files", SHOW_EXEC)));
	add_fact(page, "Hidden", number(page, names_in(show, "files", SHOW_SHUT)));
	add_fact(page, "Sealed", number(page, names_in(show, "files", SHOW_SEALED)));
	add_fact(page, "Network", modes[sbx_meta(show->blob)->net_mode]);
	add_fact(page, "Holes, each with a reason",
		 number(page, names_in(show, "holes", SHOW_HOLE)));
	add_fact(page, "Best-effort", number(page, names_in(show, "holes", SHOW_PLAIN)));
	add(page, "</dl>\n");
}

static void add_head(struct page *page)
{
	const struct sbx_blob *blob = page->show->blob;
	const struct sbx_meta *meta = sbx_meta(blob);
	const char *name = sbx_string(blob, meta->name);

	add(page, "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n"
		  "<head>\n<meta charset=\"utf-8\"/>\n"
		  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		  "style-src 'unsafe-inline'; img-src data:\"/>\n"
		  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
		  "<link rel=\"icon\" href=\"data:,\"/>\n");
	add_between(page, "<title>", name, ": an sbx policy</title>\n<style>\n");
	add(page, style);
	add(page, "</style>\n</head>\n<body>\n<header>\n<h1><small>");
	add(page, blob->header->kind == SBX_SITE ? "Site policy" : "Policy");
	add_between(page, "</small>", name, "</h1>\n");
	if (*sbx_string(blob, meta->summary))
		add_between(page, "<p class=\"summary\">", sbx_string(blob, meta->summary),
			    "</p>\n");
	if (meta->command_count) {
		add(page, "<p>It runs <code>");
		for (uint32_t i = 0; i < meta->command_count; i++)
			add_between(
			    page, i ? " " : "",
			    render_tmpl(page->show->arena, blob,
					*SBX_AT(blob, TMPLS, sbx_tmpl, meta->command_first + i)),
			    "");
		add(page, "</code></p>\n");
	}
	add_facts(page);
	add(page, "<nav aria-label=\"Parts of this page\"><ul>\n");
	for (size_t i = 0; i < page->show->parts.count; i++) {
		add_between(page, "<li><a href=\"#", page->show->parts.items[i].id, "\">");
		add_between(page, "", page->show->parts.items[i].title, "</a></li>\n");
	}
	add(page, "</ul></nav>\n</header>\n<main>\n");
}

/* ---- the parts --------------------------------------------------------------------------- */

static void add_legend(struct page *page)
{
	static const struct {
		enum show_tone tone;
		const char *state, *words;
	} entries[] = {
		{ SHOW_WRITE, "rwx", "the host's own, can be written" },
		{ SHOW_EXEC, "r-x", "read and run" },
		{ SHOW_READ, "r--", "read" },
		{ SHOW_PRIVATE, "tmp", "private, gone at the end" },
		{ SHOW_SHUT, "hidden", "denied; a nearer or overriding grant opens it" },
		{ SHOW_SEALED, "sealed", "no grant opens it" },
	};

	add(page, "<ul class=\"legend\" aria-label=\"Legend\">\n");
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		add_between(page, "<li><span class=\"tag ", tones[entries[i].tone], "\">");
		add_between(page, "", entries[i].state, "</span> ");
		add_between(page, "", entries[i].words, "</li>\n");
	}
	add(page, "</ul>\n");
}

static void add_names(struct page *page, const struct show_row *row)
{
	size_t shown = row->names.count;

	if (page->quiet && shown > QUIET_NAMES + 1)
		shown = QUIET_NAMES;
	if (row->label)
		add_between(page, "<strong>", row->label, ":</strong> ");
	for (size_t i = 0; i < shown; i++)
		add_between(page, "<code class=\"name\">", row->names.items[i], "</code> ");
	if (shown < row->names.count)
		add_between(page, "<span class=\"said\">and ",
			    number(page, (unsigned)(row->names.count - shown)), " more</span>");
}

static void add_row(struct page *page, const struct show_row *row, bool tree, bool places)
{
	unsigned depth = row->depth < DEEPEST ? row->depth : DEEPEST;

	add(page, tree && !depth ? "<tr class=\"top\">" : "<tr>");
	add(page, "<td class=\"state\">");
	if (*row->state) {
		add_between(page, "<span class=\"tag ", tones[row->tone], "\">");
		add_between(page, "", row->state, "</span>");
	}
	add(page, "</td><th scope=\"row\"");
	if (depth)
		add_between(page, " class=\"deep d", number(page, depth), "\"");
	add(page, ">");
	add_names(page, row);
	if (row->said)
		add_between(page, "<span class=\"said\">", row->said, "</span>");
	if (row->hole)
		add_between(page,
			    row->tone == SHOW_HOLE ? "<p class=\"why\">"
						   : "<p class=\"why\"><strong>compat:</strong> ",
			    row->hole, "</p>");
	add(page, "</th>");
	if (places)
		add_between(page, "<td class=\"where\">", show_place(page->show->arena, row),
			    "</td>");
	add(page, "</tr>\n");
}

static void add_part(struct page *page, const struct show_part *part)
{
	bool tree = !strcmp(part->id, "files") || !strcmp(part->id, "backends");
	bool places = false;

	for (size_t i = 0; i < part->rows.count && !page->quiet; i++)
		places |= part->rows.items[i].file != NULL;

	add_between(page, "<section aria-labelledby=\"", part->id, "\">\n");
	add_between(page, "<h2 id=\"", part->id, "\">");
	add_between(page, "", part->title, "</h2>\n");
	if (part->lead)
		add_between(page, "<p class=\"lead\">", part->lead, "</p>\n");
	if (!strcmp(part->id, "files"))
		add_legend(page);
	if (part->rows.count && !(page->quiet && part->detail)) {
		add_between(page, "<div class=\"wrap\"><table>\n<caption>", part->title,
			    "</caption>\n<thead><tr><th scope=\"col\">");
		add_between(page, "", part->state_head, "</th><th scope=\"col\">");
		add_between(page, "", part->name_head, "</th>");
		add(page, places ? "<th scope=\"col\">Where</th></tr></thead>\n<tbody>\n"
				 : "</tr></thead>\n<tbody>\n");
		for (size_t i = 0; i < part->rows.count; i++)
			add_row(page, &part->rows.items[i], tree, places);
		add(page, "</tbody></table></div>\n");
	}
	add(page, "</section>\n");
}

struct text show_html(struct show *show, bool quiet)
{
	struct page page = { .show = show, .text = { .arena = show->arena }, .quiet = quiet };
	struct sbx_blob jobs;

	add_head(&page);
	for (size_t i = 0; i < show->parts.count; i++)
		add_part(&page, &show->parts.items[i]);
	add(&page, "</main>\n<footer><p>Drawn on paper: the workspace is taken to lie in the home, "
		   "and no symbolic link is followed.  A launch decides with the real paths.</p>\n"
		   "<p>Policy <code>");
	add(&page, render_digest(show->arena, show->blob));
	if (sbx_blob_jobs(show->blob, &jobs)) {
		add(&page, "</code>, of jobs <code>");
		add(&page, render_digest(show->arena, &jobs));
	}
	add_between(&page, "</code>, written by ",
		    sbx_string(show->blob, sbx_meta(show->blob)->compiler),
		    "</p></footer>\n</body>\n</html>\n");
	return page.text;
}
