/*
 * Words as hosts: a name, `*.suffix`, `*`, a literal address or a CIDR, each
 * with a port.
 *
 * A name is lower-case labels as DNS has them.  What a resolver would read as
 * an address but does not look like one to a reader (`127.1`, `0x7f.0.0.1`)
 * is refused: it would pass a rule written for names.
 */
#include <arpa/inet.h>
#include <ctype.h>

#include "compiler/words_read.h"

struct host_word {
	const struct words *words;
	const struct ast_word *word;
};

static bool fail_host(const struct host_word *at, enum diag_code code, const char *what)
{
	diag_error(at->words->diags, code, at->word->span, "%s", what);
	return false;
}

static bool read_port(const struct host_word *at, struct str text, unsigned *port)
{
	*port = 0;
	for (size_t i = 0; i < text.len; i++) {
		if (!isdigit((unsigned char)text.ptr[i]) || *port > 65535)
			*port = 65536;
		else
			*port = *port * 10 + (unsigned)(text.ptr[i] - '0');
	}
	if (!text.len || text.ptr[0] == '0' || *port > 65535)
		return fail_host(at, DIAG_C0219, "a port is a number from 1 to 65535");
	return true;
}

static bool read_prefix(const struct host_word *at, struct str text, unsigned most, uint32_t *bits)
{
	*bits = 0;
	for (size_t i = 0; i < text.len && i < 4; i++)
		*bits = isdigit((unsigned char)text.ptr[i])
			    ? *bits * 10 + (unsigned)(text.ptr[i] - '0')
			    : 999;
	if (!text.len || text.len > 3 || *bits > most || (text.len > 1 && text.ptr[0] == '0')) {
		diag_error(at->words->diags, DIAG_C0220, at->word->span,
			   "after the `/` of an address stands the number of its bits that count, "
			   "at most %u",
			   most);
		return false;
	}
	return true;
}

/* A bit set past the prefix says that something else was meant. */
static bool check_tail(const struct host_word *at, const struct sbx_cidr *cidr)
{
	for (uint32_t bit = cidr->bits; bit < 128; bit++) {
		if (cidr->address[bit / 8] & 0x80 >> bit % 8)
			return fail_host(at, DIAG_C0220,
					 "this address has bits set past its prefix: "
					 "write the first address of the range");
	}
	return true;
}

static bool read_address(const struct host_word *at, struct str text, bool *is_address,
			 struct sbx_cidr *out)
{
	char copy[64];
	const char *slash = memchr(text.ptr, '/', text.len);
	struct str address = { text.ptr, slash ? (size_t)(slash - text.ptr) : text.len };
	uint32_t bits;

	*is_address = false;
	if (address.len >= sizeof(copy))
		return true;
	memcpy(copy, address.ptr, address.len);
	copy[address.len] = '\0';
	*out = (struct sbx_cidr){ .address = { [10] = 0xff, [11] = 0xff }, .bits = 128 };
	bool four = inet_pton(AF_INET, copy, out->address + 12) == 1;
	if (!four && inet_pton(AF_INET6, copy, out->address) != 1)
		return true;
	*is_address = true;
	if (slash) {
		struct str rest = { slash + 1, text.len - address.len - 1 };

		if (!read_prefix(at, rest, four ? 32 : 128, &bits))
			return false;
		out->bits = four ? bits + 96 : bits;
	}
	return check_tail(at, out);
}

static bool all_digits(struct str label)
{
	for (size_t i = 0; i < label.len; i++) {
		if (!isdigit((unsigned char)label.ptr[i]))
			return false;
	}
	return true;
}

static bool check_label(const struct host_word *at, struct str label)
{
	if (!label.len)
		return fail_host(at, DIAG_C0218,
				 "a host is labels joined by single dots, with none at the end");
	if (label.len > 63)
		return fail_host(at, DIAG_C0218, "a label of a host has at most 63 bytes");
	for (size_t i = 0; i < label.len; i++) {
		unsigned char c = (unsigned char)label.ptr[i];

		if (isupper(c))
			return fail_host(at, DIAG_C0218, "hosts are written in lower case");
		if (c >= 0x80)
			return fail_host(at, DIAG_C0218,
					 "a host outside ASCII is written in its xn-- form");
		if (c == '*')
			return fail_host(
			    at, DIAG_C0218,
			    "in a host `*` stands alone or as the first label: `*.example.org`");
		if (!islower(c) && !isdigit(c) && c != '-' && c != '_')
			return fail_host(at, DIAG_C0218,
					 "a host is of lower-case letters, digits, `-` and dots");
	}
	if (label.ptr[0] == '-' || label.ptr[label.len - 1] == '-')
		return fail_host(at, DIAG_C0218,
				 "a label of a host neither starts nor ends with `-`");
	return true;
}

static bool check_name(const struct host_word *at, struct str name)
{
	struct str label = { name.ptr, 0 };

	if (name.len > 253)
		return fail_host(at, DIAG_C0218, "a host has at most 253 bytes");
	for (size_t i = 0; i <= name.len; i++) {
		if (i < name.len && name.ptr[i] != '.')
			continue;
		label.len = (size_t)(name.ptr + i - label.ptr);
		if (!check_label(at, label))
			return false;
		if (i < name.len)
			label.ptr = name.ptr + i + 1;
	}
	if (all_digits(label) || str_starts(label, "0x"))
		return fail_host(at, DIAG_C0218,
				 "a resolver would read this as an address: "
				 "write all four numbers of it");
	return true;
}

/* Splits off ":port"; @host is what is before, without brackets. */
static bool split_port(const struct host_word *at, struct str text, struct str *host,
		       struct host *out)
{
	const char *colon = memchr(text.ptr, ':', text.len);

	*host = text;
	if (text.len && text.ptr[0] == '[') {
		const char *end = memchr(text.ptr, ']', text.len);

		if (!end)
			return fail_host(at, DIAG_C0220, "the `[` of an address has no `]`");
		*host = (struct str){ text.ptr + 1, (size_t)(end - text.ptr) - 1 };
		colon = end + 1;
		if (colon == text.ptr + text.len)
			return true;
		if (*colon != ':')
			return fail_host(at, DIAG_C0220, "after `]` stands `:PORT` or nothing");
	} else if (!colon || memchr(colon + 1, ':', (size_t)(text.ptr + text.len - colon) - 1)) {
		return true; /* none, or an IPv6 address */
	} else {
		host->len = (size_t)(colon - text.ptr);
	}
	out->port_said = true;
	return read_port(at, (struct str){ colon + 1, (size_t)(text.ptr + text.len - colon) - 1 },
			 &out->port);
}

static bool read_host(const struct host_word *at, struct str text, struct host *out)
{
	struct str host;
	bool is_address;

	*out = (struct host){ 0 };
	if (memchr(text.ptr, '/', text.len) && str_starts(text, "http"))
		return fail_host(at, DIAG_C0218, "a host is wanted, not a URL: `HOST:PORT`");
	if (!split_port(at, text, &host, out) || !read_address(at, host, &is_address, &out->cidr))
		return false;
	if (is_address) {
		out->kind = SBX_NETK_ADDRESS;
		out->name = host;
		return true;
	}
	if (text.ptr[0] == '[' || memchr(host.ptr, ':', host.len) ||
	    memchr(host.ptr, '/', host.len))
		return fail_host(at, DIAG_C0220, "this is neither a host nor an address");
	if (str_is(host, "*")) {
		out->kind = SBX_NETK_ANY;
		return true;
	}
	out->kind = str_starts(host, "*.") ? SBX_NETK_SUFFIX : SBX_NETK_HOST;
	out->name = host;
	if (out->kind == SBX_NETK_SUFFIX)
		out->name = (struct str){ host.ptr + 2, host.len - 2 };
	return check_name(at, out->name);
}

bool words_hosts(const struct words *words, const struct ast_word *word, struct host_list *out)
{
	struct host_word at = { words, word };
	struct str_list texts = { 0 };

	if (word->kind != AST_NAME && word->kind != AST_STRING) {
		diag_error(words->diags, DIAG_C0218, word->span, "a host is wanted here");
		return false;
	}
	if (!words_plains(words, word, &texts))
		return false;
	for (size_t i = 0; i < texts.count; i++) {
		if (!texts.items[i].len)
			return fail_host(&at, DIAG_C0218, "an empty host");
		if (!read_host(&at, texts.items[i], VEC_PUSH(words->arena, out)))
			return false;
	}
	return true;
}

bool words_range(const struct words *words, const struct ast_word *word, struct sbx_cidr *out)
{
	struct host_word at = { words, word };
	struct str text;
	bool is_address;

	if (!words_plain(words, word, &text) || !read_address(&at, text, &is_address, out))
		return false;
	return is_address ||
	       fail_host(&at, DIAG_C0220, "an address or a range like 10.1.0.0/16 is wanted");
}

bool words_port(const struct words *words, const struct ast_word *word, unsigned *out)
{
	struct host_word at = { words, word };
	struct str text;

	return words_plain(words, word, &text) && read_port(&at, text, out);
}
