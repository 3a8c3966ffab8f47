/*
 * blob/enforce.c - the table of enforce.def, and how it is asked.
 *
 * Its texts are members of one structure and the rows hold offsets: a table
 * of pointers would have to be adjusted by the launcher at each start.
 */
#include "blob/enforce.h"

#include <string.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

/* ---- the texts: a member a line of enforce.def -------------------------------- */

#define DUTY(id, name, text)                                                                       \
	char JOIN(name_, __LINE__)[sizeof(name)];                                                  \
	char JOIN(text_, __LINE__)[sizeof(text)];
#define HOLDS(duty, backend, abi, needs, by) char JOIN(by_, __LINE__)[sizeof(by)];
#define LACKS(duty, backend, why, remedy)                                                          \
	char JOIN(why_, __LINE__)[sizeof(why)];                                                    \
	char JOIN(remedy_, __LINE__)[sizeof(remedy)];
struct texts {
#include "blob/enforce.def"
};
#undef DUTY
#undef HOLDS
#undef LACKS

#define DUTY(id, name, text) name, text,
#define HOLDS(duty, backend, abi, needs, by) by,
#define LACKS(duty, backend, why, remedy) why, remedy,
static const struct texts texts = {
#include "blob/enforce.def"
};
#undef DUTY
#undef HOLDS
#undef LACKS

#define AT(member) offsetof(struct texts, JOIN(member, __LINE__))

/* ---- the rows ------------------------------------------------------------------- */

#define DUTY(id, name, text)
#define HOLDS(duty, backend, abi, needs, by)                                                       \
	{ SBX_DUTY_##duty, SBX_##backend, abi, needs, AT(by_) },
#define LACKS(duty, backend, why, remedy)
static const struct sbx_enforcer enforcers[] = {
#include "blob/enforce.def"
};
#undef DUTY
#undef HOLDS
#undef LACKS

#define DUTY(id, name, text)
#define HOLDS(duty, backend, abi, needs, by)
#define LACKS(duty, backend, why, remedy)                                                          \
	{ SBX_DUTY_##duty, SBX_##backend, AT(why_), AT(remedy_) },
static const struct lack {
	uint8_t duty, backend;
	uint16_t why, remedy;
} lacks[] = {
#include "blob/enforce.def"
};
#undef DUTY
#undef HOLDS
#undef LACKS

#define DUTY(id, name, text) { AT(name_), AT(text_) },
#define HOLDS(duty, backend, abi, needs, by)
#define LACKS(duty, backend, why, remedy)
static const struct {
	uint16_t name, text;
} duties[SBX_DUTY_COUNT] = {
#include "blob/enforce.def"
};

#define COUNT(table) (sizeof(table) / sizeof(*(table)))

static const char *text_at(uint16_t offset)
{
	return (const char *)&texts + offset;
}

enum sbx_duty sbx_duty_of_tmp(const char *path)
{
	return !strcmp(path, "/tmp") || !strcmp(path, "/dev/shm") ? SBX_DUTY_TMP
								  : SBX_DUTY_TMP_ELSEWHERE;
}

const struct sbx_enforcer *sbx_enforcer(enum sbx_duty duty, enum sbx_backend backend,
					const struct sbx_machine *machine)
{
	for (size_t i = 0; i < COUNT(enforcers); i++)
		if (enforcers[i].duty == duty && enforcers[i].backend == backend &&
		    enforcers[i].landlock <= machine->landlock &&
		    !(enforcers[i].needs & ~machine->has))
			return &enforcers[i];
	return NULL;
}

const struct sbx_enforcer *sbx_enforcer_at(size_t index)
{
	return index < COUNT(enforcers) ? &enforcers[index] : NULL;
}

const char *sbx_enforcer_by(const struct sbx_enforcer *enforcer)
{
	return text_at(enforcer->by);
}

static const struct lack *find_lack(enum sbx_duty duty, enum sbx_backend backend)
{
	for (size_t i = 0; i < COUNT(lacks); i++)
		if (lacks[i].duty == duty && lacks[i].backend == backend)
			return &lacks[i];
	return NULL;
}

const char *sbx_lack_why(enum sbx_duty duty, enum sbx_backend backend)
{
	const struct lack *lack = find_lack(duty, backend);

	return lack ? text_at(lack->why) : "";
}

const char *sbx_lack_remedy(enum sbx_duty duty, enum sbx_backend backend)
{
	const struct lack *lack = find_lack(duty, backend);

	return lack ? text_at(lack->remedy) : "";
}

const char *sbx_backend_name(enum sbx_backend backend)
{
	static const char names[SBX_BACKEND_COUNT][9] = { "bwrap", "firejail", "landlock" };

	return names[backend];
}

const char *sbx_duty_name(enum sbx_duty duty)
{
	return text_at(duties[duty].name);
}

const char *sbx_duty_text(enum sbx_duty duty)
{
	return text_at(duties[duty].text);
}
