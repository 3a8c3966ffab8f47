/*
 * compiler/diff_names.c - names that tell patterns apart.
 *
 * All patterns are run at once over names that grow by one character: a state is
 * where each may stand.  Characters that no element of a pattern tells apart are
 * one class, so few names reach every state there is.  A name that is already taken
 * is varied until it is not.
 *
 * Where patterns are many that can all match together, as `*A*` and `*B*`, there are
 * too many sets.  Then it is two at a time: what decides is one pattern that gives
 * and one that takes, while the others stay out of it, which a name does that has
 * a character of no pattern wherever one fits.
 */
#include "compiler/diff_names.h"

#include <stdint.h>

#include "blob/verdict.h"

#define STATES_MAX   2000
#define TOGETHER_MAX 30 /* patterns */
#define CHARS_MAX    512

struct element {
	const char *text; /* NULL: the end of a pattern */
	bool star;
};

struct state {
	const uint8_t *at;   /* for each element: may stand before it */
	const size_t *chars; /* the first name that led here */
	size_t length;
};

struct search {
	struct arena *arena;
	const struct map *taken;
	bool padded; /* each name twice, see pad() */
	struct names *out;
	struct {
		VEC_OF(struct element)
	} elements;
	const char *chars[CHARS_MAX];
	size_t char_count;
	size_t class_of[CHARS_MAX];
	size_t member[CHARS_MAX]; /* of each class */
	size_t classes;
	uint8_t *scratch[3]; /* two states and a set, one after another */
	uint8_t *agrees;     /* [class * elements + element] */
	struct {
		VEC_OF(struct state)
	} queue;
	struct map seen;     /* states */
	struct map accepted; /* sets of patterns that have their name */
};

/* The length of the one element at @p: a set, an escaped byte, a character. */
static size_t element_length(const char *p)
{
	size_t length = 1;

	if (*p == '\\' && p[1])
		return 2;
	if (*p == '[') {
		size_t i = 1;

		i += p[i] == '!' || p[i] == '^';
		i += p[i] == ']';
		for (; p[i] && p[i] != ']'; i++)
			i += p[i] == '\\' && p[i + 1];
		return p[i] ? i + 1 : 1;
	}
	while ((p[length] & 0xc0) == 0x80)
		length++;
	return length;
}

static void add_char(struct search *s, const char *text)
{
	for (size_t i = 0; i < s->char_count; i++)
		if (!strcmp(s->chars[i], text))
			return;
	if (s->char_count < CHARS_MAX)
		s->chars[s->char_count++] = text;
}

static void read_pattern(struct search *s, const char *p)
{
	while (*p) {
		size_t length = element_length(p);
		const char *text = arena_copy(s->arena, p, length);

		*VEC_PUSH(s->arena, &s->elements) = (struct element){ text, *p == '*' };
		/* What stands in a set may be of a kind that has no other member here. */
		for (size_t i = 0; i < length;) {
			size_t one = 1;

			while (i + one < length && (p[i + one] & 0xc0) == 0x80)
				one++;
			if (!strchr("*?[]\\/", p[i]) || (*p == '\\' && i))
				add_char(s, arena_copy(s->arena, p + i, one));
			i += one;
		}
		p += length;
	}
	*VEC_PUSH(s->arena, &s->elements) = (struct element){ NULL, false };
}

/* Plain characters first, since they make the nicer witnesses. */
static void add_usual_chars(struct search *s)
{
	static const char usual[] =
	    "xyzabcdefghijklmnopqrstuvwXYZABCDEFGHIJKLMNOPQRSTUVW0123456789_-."
	    "~+,:;!#$%&'()@^`{|}<>\" *?[]\\";

	for (const char *p = usual; *p; p++)
		add_char(s, arena_copy(s->arena, p, 1));
	add_char(s, "\xc3\xa9");
}

static void classify(struct search *s)
{
	size_t count = s->elements.count;
	struct map classes = { 0 };

	s->agrees = arena_array(s->arena, s->char_count * (count + 1), 1);
	for (size_t c = 0; c < s->char_count; c++) {
		uint8_t *row = s->agrees + s->classes * count;
		void **slot;

		for (size_t e = 0; e < count; e++) {
			const struct element *element = &s->elements.items[e];

			row[e] = !element->text  ? 0
				 : element->star ? 1
						 : sbx_glob_match(element->text, s->chars[c]);
		}
		slot =
		    map_put(s->arena, &classes,
			    (struct str){ arena_copy(s->arena, (const char *)row, count), count });
		if (!*slot) {
			s->member[s->classes] = c;
			*slot = (void *)(uintptr_t)++s->classes;
		}
		s->class_of[c] = (uintptr_t)*slot - 1;
	}
}

static bool is_taken(const struct search *s, const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..") ||
	       (s->taken && map_get(s->taken, str_from(name)));
}

static void stand(const struct search *s, uint8_t *at, size_t element)
{
	at[element] = 1;
	while (s->elements.items[element].star)
		at[++element] = 1;
}

static void step(const struct search *s, const uint8_t *at, size_t class, uint8_t *next)
{
	size_t count = s->elements.count;

	memset(next, 0, count);
	for (size_t e = 0; e < count; e++) {
		if (!at[e] || !s->agrees[class * count + e])
			continue;
		stand(s, next, s->elements.items[e].star ? e : e + 1);
	}
}

static bool is_start(const struct search *s, size_t element)
{
	return !element || !s->elements.items[element - 1].text;
}

static void begin(const struct search *s, uint8_t *at)
{
	memset(at, 0, s->elements.count);
	for (size_t e = 0; e < s->elements.count; e++)
		if (is_start(s, e))
			stand(s, at, e);
}

/* The patterns that end in the state @at; into @set. */
static struct str ended(const struct search *s, const uint8_t *at, char *set)
{
	size_t length = 0;

	for (size_t e = 0; e < s->elements.count; e++)
		if (!s->elements.items[e].text)
			set[length++] = (char)at[e];
	return (struct str){ set, length };
}

/* Do the same patterns match @name? */
static bool agrees(struct search *s, struct str set, const size_t *name, size_t length)
{
	size_t count = s->elements.count;
	uint8_t *at = s->scratch[0], *next = s->scratch[1], *swap;

	begin(s, at);
	for (size_t i = 0; i < length; i++) {
		step(s, at, s->class_of[name[i]], next);
		swap = at;
		at = next;
		next = swap;
	}
	return str_equal(ended(s, at, (char *)s->scratch[2] + count), set);
}

static const char *spell(struct search *s, const size_t *name, size_t length)
{
	const char *text = "";

	for (size_t i = 0; i < length; i++)
		text = arena_printf(s->arena, "%s%s", text, s->chars[name[i]]);
	return text;
}

/*
 * A name like @state's that is not taken: with one character more, or another one.
 * What matches a `*` can grow, and what matches a `?` or a set can be another member.
 */
static const char *vary(struct search *s, const struct state *state, struct str set)
{
	size_t *name = arena_array(s->arena, state->length + 1, sizeof(*name));

	for (size_t place = 0; place <= state->length; place++)
		for (unsigned more = 0; more < 2; more++)
			for (size_t c = 0; c < s->char_count && place + !more <= state->length;
			     c++) {
				const char *text;

				memcpy(name, state->chars, place * sizeof(*name));
				name[place] = c;
				memcpy(name + place + 1, state->chars + place + !more,
				       (state->length - place - !more) * sizeof(*name));
				text = spell(s, name, state->length + more);
				if (!is_taken(s, text) &&
				    agrees(s, set, name, state->length + more))
					return text;
			}
	return NULL;
}

/* With one more character wherever that changes nothing: where the name agrees with what
 * others spell out only because it is so short, it no longer does. */
static void pad(struct search *s, const struct state *state, struct str set)
{
	size_t length = state->length;
	size_t *name = arena_array(s->arena, 2 * length + 1, sizeof(*name));
	const char *text;

	for (size_t i = 0; i < length; i++)
		name[i] = state->chars[i];
	for (size_t place = state->length + 1; place-- > 0;) {
		memmove(name + place + 1, name + place, (length - place) * sizeof(*name));
		name[place] = 0;
		if (agrees(s, set, name, length + 1)) {
			length++;
			continue;
		}
		memmove(name + place, name + place + 1, (length - place) * sizeof(*name));
	}
	text = spell(s, name, length);
	if (length > state->length && !is_taken(s, text))
		*VEC_PUSH(s->arena, s->out) = text;
}

/* The set of patterns that end here gets its name, if it has none. */
static void accept(struct search *s, const struct state *state)
{
	struct str set = ended(s, state->at, (char *)s->scratch[2]);
	const char *name;
	void **slot;

	if (map_get(&s->accepted, set))
		return;
	set.ptr = arena_copy(s->arena, set.ptr, set.len);
	if (s->padded)
		pad(s, state, set);
	name = spell(s, state->chars, state->length);
	if (is_taken(s, name))
		name = vary(s, state, set);
	if (!name)
		return;
	*VEC_PUSH(s->arena, s->out) = name;
	slot = map_put(s->arena, &s->accepted, set);
	*slot = s;
}

/* Goes on from @from (NULL: the empty name) to the state @at, if it is a new one. */
static void push(struct search *s, const uint8_t *at, const struct state *from, size_t c)
{
	struct str key = { (const char *)at, s->elements.count };
	struct state state = { 0 };

	if (from && map_get(&s->seen, key))
		return;
	key.ptr = arena_copy(s->arena, key.ptr, key.len);
	state.at = (const uint8_t *)key.ptr;
	if (from) {
		size_t *chars = arena_array(s->arena, from->length + 1, sizeof(*chars));

		for (size_t i = 0; i < from->length; i++)
			chars[i] = from->chars[i];
		chars[from->length] = c;
		state.chars = chars;
		state.length = from->length + 1;
		*map_put(s->arena, &s->seen, key) = s;
		accept(s, &state);
	}
	*VEC_PUSH(s->arena, &s->queue) = state;
}

/* False: there are too many states. */
static bool search(struct arena *arena, const char *const *patterns, size_t count,
		   const struct map *taken, bool padded, struct effort *effort, struct names *out)
{
	struct search s = { .arena = arena, .taken = taken, .out = out, .padded = padded };

	add_char(&s, "x");
	for (size_t i = 0; i < count; i++)
		read_pattern(&s, patterns[i]);
	add_usual_chars(&s);
	classify(&s);
	for (size_t i = 0; i < 3; i++)
		s.scratch[i] = arena_alloc(arena, 2 * s.elements.count + 1);
	begin(&s, s.scratch[0]);
	push(&s, s.scratch[0], NULL, 0);
	effort_left(effort, s.char_count * s.elements.count);
	for (size_t i = 0; i < s.queue.count; i++) {
		if (i == STATES_MAX)
			return false;
		effort_left(effort, s.classes * s.elements.count);
		for (size_t class = 0; class < s.classes; class ++) {
			struct state from = s.queue.items[i];

			step(&s, from.at, class, s.scratch[0]);
			push(&s, s.scratch[0], &from, s.member[class]);
		}
	}
	return true;
}

void names_tell_apart(struct arena *arena, const char *const *patterns, size_t count, size_t first,
		      const struct map *taken, struct effort *effort, struct names *out)
{
	if (count <= TOGETHER_MAX && search(arena, patterns, count, taken, false, effort, out))
		return;
	for (size_t i = 0; i < first; i++)
		for (size_t n = 0; n < count && effort_left(effort, 1); n++) {
			const char *two[] = { patterns[i], patterns[n] };

			if (n > i || n >= first)
				search(arena, two, 2, taken, true, effort, out);
		}
}
