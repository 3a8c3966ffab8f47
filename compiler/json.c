#include "compiler/json.h"

#include "base/utf8.h"

void json_string(FILE *out, struct str text)
{
	fputc('"', out);
	for (size_t at = 0; at < text.len;) {
		unsigned char byte = (unsigned char)text.ptr[at];
		uint32_t point;
		size_t len = utf8_decode(text.ptr + at, text.len - at, &point);

		if (len == 0)
			fprintf(out, "\\\\x%02x", byte);
		else if (byte == '"' || byte == '\\')
			fprintf(out, "\\%c", byte);
		else if (byte == '\n')
			fputs("\\n", out);
		else if (utf8_is_control(point)) /* all of them lie below U+10000 */
			fprintf(out, "\\u%04x", (unsigned)point);
		else
			fwrite(text.ptr + at, 1, len, out);
		at += len ? len : 1;
	}
	fputc('"', out);
}
