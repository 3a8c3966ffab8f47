/*
 * compiler/json.h - text for JSON.
 */
#ifndef SBX_COMPILER_JSON_H
#define SBX_COMPILER_JSON_H

#include <stdio.h>

#include "base/str.h"

/* @text as a JSON string, quotes and all.  What is no UTF-8 in it becomes \xNN, as on a
 * terminal: JSON has no way to say such a byte, and a reader would refuse the whole. */
void json_string(FILE *out, struct str text);

#endif
