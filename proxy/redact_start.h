/*
 * proxy/redact_start.h - where does a form begin that ends here?
 */
#ifndef SBX_PROXY_REDACT_START_H
#define SBX_PROXY_REDACT_START_H

#include "proxy/forms.h"

/*
 * At the earliest, of all ways to read its escapes; *start is behind @end, if there is none.
 * Goes back from @end to a byte that no form has, or by as much as the longest form:
 * whatever is there, so that how long it takes tells nothing of what stands before the
 * form.  False: no memory.
 */
bool redact_start(const struct redact_set *set, unsigned form, const uint8_t *text, size_t end,
		  size_t *start);

#endif
