/*
 * proxy/escape.h - a byte that is written as several, in answers that show it.
 *
 * Of a URL (%2B), of JSON and what is like it (\u002b, \x2b, \/), and of HTML (&#43;,
 * &#x2B;, &plus;).  An escape may stand for the byte by which another begins (%252B,
 * &amp;#43;, \\/): so texts are that were written into one another.
 */
#ifndef SBX_PROXY_ESCAPE_H
#define SBX_PROXY_ESCAPE_H

#include <stdbool.h>
#include <stdint.h>

#define ESCAPE_MAX 40 /* else zeros without end, or a thousand backslashes, were one */

struct escape {         /* of zeros: in none */
	uint8_t state, value;
	uint8_t length; /* bytes so far */
};
enum escape_result { ESCAPE_NONE, ESCAPE_MORE, ESCAPE_BYTE };

/* Does an escape begin by @byte?  Also within @escape, for which @byte stands. */
bool escape_begin(struct escape *escape, uint8_t byte);
/* One byte further; ESCAPE_BYTE: it ends here, and stands for *byte. */
enum escape_result escape_next(struct escape *escape, uint8_t *byte);

#endif
