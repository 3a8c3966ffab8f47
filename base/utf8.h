/*
 * base/utf8.h - UTF-8 as far as a policy needs it.
 */
#ifndef SBX_BASE_UTF8_H
#define SBX_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The character at @text: its length in bytes, 0 where the bytes are not
 * UTF-8 (overlong forms, surrogates and what is past U+10FFFF included).
 */
size_t utf8_decode(const char *text, size_t len, uint32_t *point);
/*
 * A character that makes text read as what it is not: it changes the order
 * in which a line is shown ("Trojan Source": U+202A..202E, U+2066..2069, the
 * marks U+061C, U+200E, U+200F), or looks like a blank or like nothing.
 */
bool utf8_misleads(uint32_t point);
/* C0, DEL, C1, line and paragraph separators, and all that misleads. */
bool utf8_is_control(uint32_t point);

#endif
