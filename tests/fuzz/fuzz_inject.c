/*
 * The head of a request, read and written anew with a credential: what goes to the
 * server has exactly one field of that name, with the real value, and one Host; is read
 * back as it was meant; and asks for no upgrade but WebSocket.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/inject.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define fault(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), abort())
#define NAME       "x-api-key"
#define VALUE      "sk-real-value"

static unsigned count(const struct head *head, const char *name, const char *value)
{
	unsigned found = 0;

	for (unsigned i = 0; i < head->field_count; i++) {
		if (!span_is(head->field[i].name, name))
			continue;
		if (!span_is(head->field[i].value, value))
			fault("another value of %s goes out", name);
		found++;
	}
	return found;
}

static void check(const struct head *sent, const char *text, size_t size)
{
	struct head head;
	size_t scanned = 0;

	memset(&head, 0, sizeof(head));
	if (head_scan(text, size, &scanned, &head) != HEAD_DONE || head.size != size)
		fault("what goes out is no one head");
	if (!head_parse(HEAD_REQUEST, text, &head))
		fault("what goes out is not read: %s", head.wrong);
	if (count(&head, NAME, VALUE) != 1 || count(&head, "x_api_key", VALUE) != 0 ||
	    count(&head, "host", "api.test") != 1 ||
	    count(&head, "accept-encoding", "identity") != 1)
		fault("one of each goes out");
	if (head.body != sent->body || head.length != sent->length)
		fault("the body is framed in another way");
	if (head.upgrade && count(&head, "upgrade", "websocket") != 1)
		fault("an upgrade to something else goes out");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct inject_choice choice = { NAME, "sbx-placeholder-0" };
	static char out[HEAD_MAX * 2];
	struct inject_request request = { .authority = "api.test",
					  .field = { NAME, sizeof(NAME) - 1 },
					  .value = { VALUE, sizeof(VALUE) - 1 } };
	struct target target;
	struct head head;
	size_t scanned = 0;
	long written;

	memset(&head, 0, sizeof(head));
	if (head_scan((const char *)data, size, &scanned, &head) != HEAD_DONE ||
	    !head_parse(HEAD_REQUEST, (const char *)data, &head) || !head_target(&head, &target) ||
	    target.form == TARGET_AUTHORITY)
		return 0;
	inject_choose(&head, &choice, 1);
	placeholder_in_head(&head, request.field);
	request.head = &head;
	request.path = target.form == TARGET_ASTERISK ? head.target : target.path;
	if (head.field_count + 8 > HEAD_FIELDS || head.size + 256 > HEAD_MAX)
		return 0; /* more than can be read back here */
	written = inject_head(&request, out, sizeof(out));
	if (written < 0)
		fault("there is no room");
	check(&head, out, (size_t)written);
	return 0;
}
