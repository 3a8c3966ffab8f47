/*
 * blob/host.c - is it a name, an address, or neither?
 *
 * The policy and whoever resolves the name later must read it alike.  So a
 * name has only letters, digits, - _ and dots, no empty or overlong label; and
 * whatever ends in a number is an address, written in full, or refused, since
 * resolvers take "127.1", "0x7f.1" and "2130706433" for 127.0.0.1.
 */
#include "blob/match.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#define HOST_MAX  253 /* RFC 1035 3.1, without the final dot */
#define LABEL_MAX 63

static const uint8_t mapped_prefix[12] = { [10] = 0xff, [11] = 0xff };

static bool label_byte(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '_';
}

static bool name_is_valid(const char *host, size_t length)
{
	size_t label = 0;

	for (size_t i = 0; i < length; i++) {
		if (host[i] == '.') {
			if (!label)
				return false;
			label = 0;
		} else if (!label_byte(host[i]) || ++label > LABEL_MAX) {
			return false;
		}
	}
	return label != 0;
}

/* The last label is decimal digits, or 0x and hexadecimal ones. */
static bool ends_in_number(const char *host, size_t length)
{
	size_t start = length, digits;

	while (start && host[start - 1] != '.')
		start--;
	if (length - start >= 2 && host[start] == '0' && (host[start + 1] | 0x20) == 'x') {
		digits = strspn(host + start + 2, "0123456789abcdefABCDEF");
		return start + 2 + digits >= length;
	}
	return start + strspn(host + start, "0123456789") >= length;
}

static enum sbx_host parse_ipv6(const char *host, size_t length, uint8_t address[16])
{
	char text[INET6_ADDRSTRLEN];

	if (length > 2 && host[0] == '[' && host[length - 1] == ']') {
		host++;
		length -= 2;
	}
	if (length >= sizeof(text))
		return SBX_HOST_BAD;
	memcpy(text, host, length);
	text[length] = '\0';
	return inet_pton(AF_INET6, text, address) == 1 ? SBX_HOST_ADDRESS : SBX_HOST_BAD;
}

size_t sbx_host_length(const char *host)
{
	size_t length = strlen(host);

	return length > 1 && host[length - 1] == '.' ? length - 1 : length;
}

enum sbx_host sbx_host_kind(const char *host, uint8_t address[16])
{
	size_t length = sbx_host_length(host);

	if (!length)
		return SBX_HOST_BAD;
	if (strchr(host, ':') || host[0] == '[')
		return parse_ipv6(host, strlen(host), address);
	if (length > HOST_MAX || !name_is_valid(host, length))
		return SBX_HOST_BAD;
	if (!ends_in_number(host, length))
		return SBX_HOST_NAME;
	memcpy(address, mapped_prefix, sizeof(mapped_prefix));
	return inet_pton(AF_INET, host, address + 12) == 1 ? SBX_HOST_ADDRESS : SBX_HOST_BAD;
}

bool sbx_cidr_has(const struct sbx_cidr *cidr, const uint8_t address[16])
{
	uint32_t bytes = cidr->bits / 8, rest = cidr->bits % 8;

	if (memcmp(cidr->address, address, bytes))
		return false;
	return !rest || !((cidr->address[bytes] ^ address[bytes]) >> (8 - rest));
}

int sbx_host_matches(enum sbx_net_kind kind, const char *rule, const char *host)
{
	size_t length = sbx_host_length(host), want = sbx_host_length(rule);

	switch (kind) {
	case SBX_NETK_HOST:
		return length == want && !strncasecmp(host, rule, want) ? INT16_MAX : -1;
	case SBX_NETK_SUFFIX:
		if (length <= want + 1 || host[length - want - 1] != '.' ||
		    strncasecmp(host + length - want, rule, want))
			return -1;
		return (int)want + 1;
	case SBX_NETK_ANY:
		return 0;
	default:
		return -1;
	}
}
