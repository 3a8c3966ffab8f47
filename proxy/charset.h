/*
 * proxy/charset.h - the alphabets in which a value is found in an answer.
 */
#ifndef SBX_PROXY_CHARSET_H
#define SBX_PROXY_CHARSET_H

#include <stdbool.h>

#include "proxy/head.h"

/*
 * Is what @head announces written so that each ASCII character is its own byte?  True where
 * it names no charset.  UTF-16, UTF-7 and EBCDIC are not, nor is one that proxy/charsets.def
 * does not have: a value would stand there in other bytes than those that are looked for.
 */
bool charset_is_read(const struct head *head);

#endif
