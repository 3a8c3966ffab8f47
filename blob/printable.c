/*
 * blob/printable.c - text of strangers, before it reaches a terminal.
 */
#include "blob/blob.h"

/* How many bytes a sign takes there that moves the cursor, ends the line, or changes the
 * order in which it is read: C0, DEL, C1, U+2028..202E, U+2066..2069; 0: none does. */
static unsigned control_at(const unsigned char *at)
{
	if (*at < ' ' || *at == 0x7f)
		return 1;
	if (*at == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0)
		return 2;
	if (*at == 0xe2 && ((at[1] == 0x80 && at[2] >= 0xa8 && at[2] <= 0xae) ||
			    (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9)))
		return 3;
	return 0;
}

bool sbx_is_printable(const char *text)
{
	for (; *text; text++)
		if (control_at((const unsigned char *)text))
			return false;
	return true;
}

void sbx_make_printable(char *text)
{
	for (unsigned length; *text; text += length ? length : 1) {
		length = control_at((const unsigned char *)text);
		for (unsigned i = 0; i < length; i++)
			text[i] = '?';
	}
}
