#include <criterion/criterion.h>
#include <string.h>

#include "proxy/charset.h"

static bool read_as(const char *type)
{
	struct head head = { .field_count = 1 };

	head.field[0].name = (struct span){ "Content-Type", 12 };
	head.field[0].value = (struct span){ type, strlen(type) };
	return charset_is_read(&head);
}

Test(charset, those_that_hold_ascii)
{
	static const char *const good[] = { "",
					    "text/plain",
					    "application/json; charset=utf-8",
					    "text/html;Charset=\"UTF-8\"",
					    "text/html; charset = ISO-8859-15",
					    "text/plain; charset=windows-1252; format=flowed",
					    "application/octet-stream; charset=binary",
					    "application/json; charset=",
					    "application/json; charset=;x=y",
					    "text/plain; charset",
					    "text/html; charset: utf-8",
					    "text/html; charset=Windows-31J",
					    "text/html; charset=x-sjis",
					    "text/html; charset=ms949",
					    "text/html; charset=tis-620",
					    "text/plain; charset=ANSI_X3.4-1968",
					    "text/plain; charset=ISO_8859-1:1987",
					    "text/plain; charset=iso88591",
					    "text/plain; charset=ibm850",
					    "text/plain; charset=unknown-8bit",
					    "text/plain; charset='cp1252'" };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		cr_expect(read_as(good[i]), "%s", good[i]);
}

Test(charset, those_that_do_not)
{
	static const char *const bad[] = { "text/plain; charset=utf-16",
					   "text/plain; charset=UTF-16LE",
					   "text/plain; charset=\"utf-32\"",
					   "text/plain;charset=utf-7",
					   "text/plain; charset=IBM037",
					   "text/plain; charset=ibm871",
					   "text/plain; charset=windows-1200",
					   "text/plain; charset=utf-8-ebcdic",
					   "text/plain; charset=iso-8859-1-and-more",
					   "text/plain; charset=x-ebcdic",
					   "text/plain; charset=unicode",
					   "text/plain; charset=iso-2022-jp",
					   "text/plain; charset=hz-gb-2312",
					   "text/plain; charset=utf",
					   "text/plain; charset=u",
					   "text/plain; charset=...",
					   "text/plain; charset*=utf-8''utf-16",
					   "text/plain; charset*0=utf-; charset*1=16",
					   "text/plain; charset=\"utf-\\16\"",
					   "text/plain; charset=utf-8; charset=utf-16" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_not(read_as(bad[i]), "%s", bad[i]);
}
