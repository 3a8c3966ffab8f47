/*
 * A decoder after RFC 3629 that refuses what it does not allow: the lead byte
 * gives the length and the least value that may be written so long.
 */
#include "base/utf8.h"

size_t utf8_decode(const char *text, size_t len, uint32_t *point)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char lead;
	size_t size;

	if (len == 0)
		return 0;
	lead = (unsigned char)text[0];
	if (lead < 0x80) {
		*point = lead;
		return 1;
	}
	size = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
	if (lead < 0xc0 || lead > 0xf7 || len < size)
		return 0;
	*point = lead & (0x7fu >> size);
	for (size_t i = 1; i < size; i++) {
		unsigned char byte = (unsigned char)text[i];

		if ((byte & 0xc0) != 0x80)
			return 0;
		*point = *point << 6 | (byte & 0x3fu);
	}
	if (*point < least[size] || *point > 0x10ffff || (*point >= 0xd800 && *point <= 0xdfff))
		return 0;
	return size;
}

bool utf8_misleads(uint32_t point)
{
	return (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069) ||
	       point == 0x061c || point == 0x200e || point == 0x200f || /* direction */
	       point == 0x00a0 || point == 0x202f || point == 0x3000 || /* blanks */
	       point == 0x00ad || point == 0x200b || point == 0x2060 || point == 0xfeff;
}

bool utf8_is_control(uint32_t point)
{
	return point < 0x20 || (point >= 0x7f && point <= 0x9f) || point == 0x2028 ||
	       point == 0x2029 || utf8_misleads(point);
}
