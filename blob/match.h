/*
 * blob/match.h - what the verdict functions share among themselves.
 */
#ifndef SBX_BLOB_MATCH_H
#define SBX_BLOB_MATCH_H

#include "blob/verdict.h"

/* Components of the longest part of @path that @pattern matches, or -1. */
int sbx_glob_longest(const char *pattern, const char *path);
/* Components of @pattern before the first with a wildcard. */
int sbx_glob_literal_depth(const char *pattern);
/* Names of variables: only `*` is special, and it matches any bytes. */
bool sbx_star_match(const char *pattern, const char *text);

/*
 * What a host is.  SBX_HOST_ADDRESS: @address is set, IPv4 as ::ffff:a.b.c.d.
 * SBX_HOST_BAD: bytes no name may have, or what only some would read as an
 * address ("127.1").
 */
enum sbx_host { SBX_HOST_BAD, SBX_HOST_NAME, SBX_HOST_ADDRESS };
enum sbx_host sbx_host_kind(const char *host, uint8_t address[16]);
/* Without the final dot of a fully qualified name. */
size_t sbx_host_length(const char *host);
/* The rank of a rule for @host: exact, then the longest suffix, then `*`
 * (0); -1: it does not match.  Letters' case does not count. */
int sbx_host_matches(enum sbx_net_kind kind, const char *rule, const char *host);
/*
 * The next rule from number @from on that opens @host at @port: of the winning rank, and
 * for @address (NULL: not known) if one is given; or SBX_NONE.  In mode proxy.
 */
uint32_t sbx_net_opener(const struct sbx_blob *blob, const char *host, const uint8_t *address,
			unsigned port, uint32_t from);
bool sbx_cidr_has(const struct sbx_cidr *cidr, const uint8_t address[16]);

#endif
