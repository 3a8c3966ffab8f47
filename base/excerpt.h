/*
 * base/excerpt.h - the source line under a message, and escapes.
 *
 * diag_escape() of base/diag.h is here too: both must agree on what a
 * terminal may be given.
 */
#ifndef SBX_BASE_EXCERPT_H
#define SBX_BASE_EXCERPT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/source.h"

/*
 * Prints the line @span starts on, indented by four, and `^~~~` beneath what
 * the span covers of it.  Tabs are kept; a long line is cut around the place
 * to at most 120 columns.  Prints nothing for an empty line.
 */
void excerpt_print(FILE *out, bool colour, struct span span);

#endif
