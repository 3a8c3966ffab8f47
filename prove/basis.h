/*
 * prove/basis.h - what a proof rests on, as text that can be made again.
 *
 * A proof covers the present where each of these is the same.
 */
#ifndef SBX_PROVE_BASIS_H
#define SBX_PROVE_BASIS_H

#include "compiler/compiler.h"
#include "prove/prove.h"

/* What a proof is about. */
struct proven {
	const struct sbx_blob *blob; /* as it was given */
	const struct define *defines;
	size_t define_count;
	const char *launcher;
};

enum basis {
	BASIS_POLICY, /* its digest */
	BASIS_DEFINES,
	BASIS_KERNEL,
	BASIS_LANDLOCK,
	BASIS_LAUNCHER,
	BASIS_BWRAP,
	BASIS_FIREJAIL,
	BASIS_AGENT,
	BASIS_COUNT
};
extern const char *const basis_names[BASIS_COUNT];
/* Each of them as it is here and now, in the arena. */
void basis_here(struct arena *arena, const struct proven *proven, const char *bases[BASIS_COUNT]);

#define BASIS_HEX_SIZE (2 * 32 + 1)
void basis_hex(const uint8_t digest[32], char out[BASIS_HEX_SIZE]);
void basis_hash(const char *text, size_t size, char out[BASIS_HEX_SIZE]);
/* NULL, or an errno value in *error. */
const char *basis_hash_of_file(struct arena *arena, const char *path, int *error);
/* The program that the launcher would take for @backend; NULL: there is none. */
const char *basis_program(struct arena *arena, enum sbx_backend backend);
/* The value that -D gives to the @index-th param; NULL: none. */
const char *basis_value(const struct proven *proven, uint32_t index);
/* What of Landlock's errata this kernel has mended, by bits. */
unsigned basis_errata(void);

#endif
