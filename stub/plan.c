/*
 * stub/plan.c - the plan as bytes, for the inner stage.
 *
 * Only what the inner stage needs.  Both ends are this same program, so the
 * records are plain structures in which a string is its offset; the reader
 * still checks every offset and count, since its input is a descriptor.
 */
#include "stub/plan.h"

#include <string.h>

#include "stub/out.h"

#define PLAN_MAGIC 0x31786273u /* "sbx1" */

struct packed_mask {
	uint64_t size, dev, ino;
	uint32_t path, rights, mode, rule;
	int32_t copy_fd;
	uint8_t kind, make, parents_open, verify, if_present, unused[7];
};
struct packed_mount { /* to verify: what is mounted where */
	uint64_t dev, ino;
	uint32_t path, kind, rights, unused;
};
struct packed_rule {
	uint64_t extra;
	uint32_t path, rights;
};
struct packed_limit {
	uint64_t soft, hard;
	int32_t resource;
	uint32_t unused;
};
struct list {
	uint32_t at, count;
};
struct packed {
	uint32_t magic, size;
	struct list masks, mounts, rules, limits, ports, environ, argv, pass_fds, filter;
	uint32_t cwd, cpus;
	uint8_t share_net, filter_init, own_group, foreground;
	uint32_t unused;
	uint64_t cwd_dev, cwd_ino, fs, net, scoped, read, write, exec, ignored, blocked;
	uint64_t namespaces[NAMESPACE_COUNT];
};

/* ---- writing ------------------------------------------------------------------ */

struct writer {
	char *data;
	size_t size, room;
};

static uint32_t append(struct writer *w, const void *bytes, size_t size)
{
	size_t at = (w->size + 7) & ~(size_t)7;

	if (at + size > w->room) {
		size_t room = 2 * (at + size);
		char *more = mem_get(room);

		if (w->size)
			memcpy(more, w->data, w->size);
		w->data = more;
		w->room = room;
	}
	if (size)
		memcpy(w->data + at, bytes, size);
	w->size = at + size;
	if (w->size > UINT32_MAX / 2)
		refuse("the plan would be too large: narrow the policy's patterns");
	return (uint32_t)at;
}

static uint32_t append_string(struct writer *w, const char *text)
{
	return append(w, text, strlen(text) + 1);
}

static struct list append_list(struct writer *w, const void *items, size_t count, size_t size)
{
	return (struct list){ append(w, items, count * size), (uint32_t)count };
}

static struct list append_strings(struct writer *w, const char *const *texts, size_t count)
{
	uint32_t *refs = mem_get(count * sizeof(*refs) + 1);

	for (size_t i = 0; i < count; i++)
		refs[i] = append_string(w, texts[i]);
	return append_list(w, refs, count, sizeof(*refs));
}

static struct list pack_masks(struct writer *w, const struct plan *plan)
{
	struct packed_mask *out = mem_get(plan->masks.count * sizeof(*out) + 1);

	for (size_t i = 0; i < plan->masks.count; i++) {
		const struct plan_mask *mask = &plan->masks.items[i];

		out[i] = (struct packed_mask){
			.size = mask->size,
			.dev = mask->dev,
			.ino = mask->ino,
			.path = append_string(w, mask->path),
			.rights = mask->rights,
			.mode = mask->mode,
			.rule = mask->rule,
			.copy_fd = mask->copy_fd,
			.kind = (uint8_t)mask->kind,
			.make = mask->make,
			.parents_open = mask->parents_open,
			.verify = mask->verify,
			.if_present = mask->if_present,
		};
	}
	return append_list(w, out, plan->masks.count, sizeof(*out));
}

static struct list pack_mounts(struct writer *w, const struct plan *plan)
{
	struct packed_mount *out = mem_get(plan->mounts.count * sizeof(*out) + 1);

	for (size_t i = 0; i < plan->mounts.count; i++) {
		const struct plan_mount *mount = &plan->mounts.items[i];

		out[i] = (struct packed_mount){
			.dev = mount->st.st_dev,
			.ino = mount->st.st_ino,
			.path = append_string(w, mount->path),
			.kind = mount->kind,
			.rights = mount->rights,
		};
	}
	return append_list(w, out, plan->mounts.count, sizeof(*out));
}

static struct list pack_rules(struct writer *w, const struct plan *plan)
{
	struct packed_rule *out = mem_get(plan->rules.count * sizeof(*out) + 1);

	for (size_t i = 0; i < plan->rules.count; i++)
		out[i] = (struct packed_rule){
			.extra = plan->rules.items[i].extra,
			.path = append_string(w, plan->rules.items[i].path),
			.rights = plan->rules.items[i].rights,
		};
	return append_list(w, out, plan->rules.count, sizeof(*out));
}

static struct list pack_limits(struct writer *w, const struct plan *plan)
{
	struct packed_limit *out = mem_get(plan->limits.count * sizeof(*out) + 1);

	for (size_t i = 0; i < plan->limits.count; i++)
		out[i] = (struct packed_limit){
			.soft = plan->limits.items[i].soft,
			.hard = plan->limits.items[i].hard,
			.resource = plan->limits.items[i].resource,
		};
	return append_list(w, out, plan->limits.count, sizeof(*out));
}

void plan_pack(const struct plan *plan, const void **data, size_t *size)
{
	struct packed head = {
		.magic = PLAN_MAGIC,
		.cpus = plan->cpus,
		.share_net = plan->share_net,
		.filter_init = plan->filter_init,
		.own_group = plan->own_group,
		.foreground = plan->foreground,
		.cwd_dev = plan->cwd_dev,
		.cwd_ino = plan->cwd_ino,
		.fs = plan->landlock_fs,
		.net = plan->landlock_net,
		.scoped = plan->landlock_scoped,
		.read = plan->landlock_read,
		.write = plan->landlock_write,
		.exec = plan->landlock_exec,
		.ignored = plan->ignored,
		.blocked = plan->blocked,
	};
	struct writer w = { 0 };

	memcpy(head.namespaces, plan->namespaces, sizeof(head.namespaces));
	append(&w, &head, sizeof(head));
	head.masks = pack_masks(&w, plan);
	head.mounts = pack_mounts(&w, plan);
	head.rules = pack_rules(&w, plan);
	head.limits = pack_limits(&w, plan);
	head.ports = append_list(&w, plan->ports.items, plan->ports.count, sizeof(uint16_t));
	head.environ = append_strings(&w, plan->environ.items, plan->environ.count);
	head.argv = append_strings(&w, plan->argv.items, plan->argv.count);
	head.pass_fds =
	    append_list(&w, plan->pass_fds.items, plan->pass_fds.count, sizeof(uint32_t));
	head.filter = append_list(&w, plan->filter, plan->filter_count, 8);
	head.cwd = append_string(&w, plan->cwd);
	append(&w, "", 1); /* so that the last string is ended whatever is in it */
	head.size = (uint32_t)w.size;
	memcpy(w.data, &head, sizeof(head));
	*data = w.data;
	*size = w.size;
}

/* ---- reading ------------------------------------------------------------------- */

struct reader {
	const char *data;
	size_t size;
	bool good;
};

static const void *list_at(struct reader *r, struct list list, size_t size)
{
	if (list.at > r->size || list.at % 8 || list.count > (r->size - list.at) / size) {
		r->good = false;
		return NULL;
	}
	return r->data + list.at;
}

/* The bytes end in a NUL, so any offset inside them is a string. */
static const char *string_at(struct reader *r, uint32_t at)
{
	if (at < r->size)
		return r->data + at;
	r->good = false;
	return "";
}

static void unpack_masks(struct reader *r, struct list list, struct plan *plan)
{
	const struct packed_mask *in = list_at(r, list, sizeof(*in));

	for (uint32_t i = 0; r->good && i < list.count; i++)
		*vec_add(&plan->masks) = (struct plan_mask){
			.kind = in[i].kind,
			.path = string_at(r, in[i].path),
			.rights = in[i].rights,
			.make = in[i].make,
			.parents_open = in[i].parents_open,
			.verify = in[i].verify,
			.if_present = in[i].if_present,
			.rule = in[i].rule,
			.size = in[i].size,
			.copy_fd = in[i].copy_fd,
			.dev = in[i].dev,
			.ino = in[i].ino,
			.mode = in[i].mode,
		};
}

static void unpack_mounts(struct reader *r, struct list list, struct plan *plan)
{
	const struct packed_mount *in = list_at(r, list, sizeof(*in));

	for (uint32_t i = 0; r->good && i < list.count; i++) {
		struct plan_mount *mount = vec_add(&plan->mounts);

		*mount = (struct plan_mount){
			.kind = in[i].kind,
			.path = string_at(r, in[i].path),
			.rights = in[i].rights,
			.fd = -1,
		};
		mount->st.st_dev = in[i].dev;
		mount->st.st_ino = in[i].ino;
	}
}

static void unpack_rest(struct reader *r, const struct packed *head, struct plan *plan)
{
	const struct packed_rule *rules = list_at(r, head->rules, sizeof(*rules));
	const struct packed_limit *limits = list_at(r, head->limits, sizeof(*limits));
	const uint16_t *ports = list_at(r, head->ports, sizeof(*ports));
	const uint32_t *fds = list_at(r, head->pass_fds, sizeof(*fds));
	const uint32_t *environ = list_at(r, head->environ, sizeof(*environ));
	const uint32_t *argv = list_at(r, head->argv, sizeof(*argv));

	plan->filter = list_at(r, head->filter, 8);
	plan->filter_count = head->filter.count;
	if (!r->good)
		return;
	for (uint32_t i = 0; i < head->rules.count; i++)
		*vec_add(&plan->rules) = (struct plan_rule){ .path = string_at(r, rules[i].path),
							     .rights = rules[i].rights,
							     .extra = rules[i].extra };
	for (uint32_t i = 0; i < head->limits.count; i++)
		*vec_add(&plan->limits) = (struct plan_limit){ .resource = limits[i].resource,
							       .soft = limits[i].soft,
							       .hard = limits[i].hard };
	for (uint32_t i = 0; i < head->ports.count; i++)
		*vec_add(&plan->ports) = ports[i];
	for (uint32_t i = 0; i < head->pass_fds.count; i++)
		*vec_add(&plan->pass_fds) = fds[i];
	for (uint32_t i = 0; i < head->environ.count; i++)
		*vec_add(&plan->environ) = string_at(r, environ[i]);
	for (uint32_t i = 0; i < head->argv.count; i++)
		*vec_add(&plan->argv) = string_at(r, argv[i]);
}

bool plan_unpack(const void *data, size_t size, struct plan *plan)
{
	const struct packed *head = data;
	struct reader r = { data, size, true };

	memset(plan, 0, sizeof(*plan));
	if (size < sizeof(*head) || head->magic != PLAN_MAGIC || head->size != size ||
	    r.data[size - 1])
		return false;
	unpack_masks(&r, head->masks, plan);
	unpack_mounts(&r, head->mounts, plan);
	unpack_rest(&r, head, plan);
	plan->cwd = string_at(&r, head->cwd);
	plan->cpus = head->cpus;
	plan->share_net = head->share_net;
	plan->filter_init = head->filter_init;
	plan->own_group = head->own_group;
	plan->foreground = head->foreground;
	plan->cwd_dev = head->cwd_dev;
	plan->cwd_ino = head->cwd_ino;
	plan->landlock_fs = head->fs;
	plan->landlock_net = head->net;
	plan->landlock_scoped = head->scoped;
	plan->landlock_read = head->read;
	plan->landlock_write = head->write;
	plan->landlock_exec = head->exec;
	plan->ignored = head->ignored;
	plan->blocked = head->blocked;
	memcpy(plan->namespaces, head->namespaces, sizeof(plan->namespaces));
	return r.good;
}
