/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/anonym.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define MARGIN 512u /* an original and what stands around it */
#define LOW_OCTET 0xffu
#define MADE_UP_OUI UINT64_C(0xacde48)
#define MADE_UP_IPV4 0xc6120000u /* 198.18.0.0/15 [RFC 2544] */
#define LINK_LOCAL UINT64_C(0xfe80000000000000)
#define MIN_WORD 3u
#define N_TEXT 64
#define FULL_GID 39u /* characters of one that has all digits */

struct triad_anonym {
	GHashTable *words;   /* folded: made-up */
	GHashTable *whole;   /* names as a whole, folded: made-up */
	GHashTable *common;  /* folded words */
	GHashTable *factory; /* those of vendors: they name nobody */
	GHashTable *known;   /* GUIDs */
	bool has_order;      /* they have their made-up ones */
	GHashTable *blocks;  /* a GUID without its last octet, or an address: made-up */
	GHashTable *seen;    /* names and common texts as added: answers repeat them */
	GHashTable *used;    /* made-up numbers and words */
	triad_anonym_found *found;
	void *found_context;
	/* The present text. */
	GString *rest;
	char previous;   /* the character before 'rest'; 0: the text begins there */
	bool is_escaped; /* a backslash stood before that */
	bool is_of_name; /* the member of JSON that is being read has names */
};

static uint64_t *dup_number(uint64_t number)
{
	uint64_t *copy = g_new(uint64_t, 1);

	*copy = number;
	return copy;
}

struct triad_anonym *triad_anonym_new(void)
{
	/* What stands in node descriptions ex factory. */
	static const char *const factory[] = {"mellanox", "technologies", "nvidia",
		"intel", "voltaire", "qlogic", "quantum", "quantum-2", "quantum-3",
		"quantum2", "connectx", "infiniscale", "infiniscale-iv", "switchx",
		"switch-ib", "aggregation", "mf0", "mf1", "sharp"};
	static const char common[] =
		"localhost localdomain root opensm triad triadd triadctl infiniband sw "
		"node spine leaf host switch router port none null true false example uid "
		"others com org net edu gov local lan internal";
	struct triad_anonym *anonym = g_new0(struct triad_anonym, 1);

	anonym->words = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	anonym->whole = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	anonym->common = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	anonym->factory = g_hash_table_new(g_str_hash, g_str_equal);
	anonym->known =
		g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	anonym->blocks =
		g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	anonym->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	anonym->used = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	anonym->rest = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(factory); i++)
		g_hash_table_add(anonym->factory, (gpointer)factory[i]);
	triad_anonym_add_common(anonym, common);
	return anonym;
}

void triad_anonym_free(struct triad_anonym *anonym)
{
	if (!anonym)
		return;
	g_hash_table_destroy(anonym->words);
	g_hash_table_destroy(anonym->whole);
	g_hash_table_destroy(anonym->common);
	g_hash_table_destroy(anonym->factory);
	g_hash_table_destroy(anonym->known);
	g_hash_table_destroy(anonym->blocks);
	g_hash_table_destroy(anonym->seen);
	g_hash_table_destroy(anonym->used);
	g_string_free(anonym->rest, TRUE);
	g_free(anonym);
}

/* --- made-up ones --- */

static uint64_t draw_number(void)
{
	uint64_t number;

	while (getrandom(&number, sizeof(number), 0) != sizeof(number))
		;
	return number;
}

/* Whether the text is made up for the first time, and no original. */
static bool claim(struct triad_anonym *anonym, const char *text)
{
	return !g_hash_table_contains(anonym->words, text) &&
		g_hash_table_add(anonym->used, g_strdup(text));
}

/* A letter for a letter, a digit for a digit. */
static void draw_like(const char *serial, char text[TRIAD_ANONYM_MAX_LENGTH])
{
	size_t i = 0;

	for (; serial[i] && i + 1 < TRIAD_ANONYM_MAX_LENGTH; i++) {
		uint64_t number = draw_number();

		if (isdigit((unsigned char)serial[i]))
			text[i] = (char)('0' + number % 10);
		else if (isalpha((unsigned char)serial[i]))
			text[i] = (char)('A' + number % 26);
		else
			text[i] = serial[i];
	}
	text[i] = '\0';
}

static char *make_up_word(
	struct triad_anonym *anonym, enum triad_anonym_kind kind, const char *word)
{
	/* No vowels: no words come of them. */
	static const char letters[] = "bcdfghjkmnpqrstvwxz23456789";
	static const char *const prefixes[TRIAD_ANONYM_N_KINDS] = {
		"host-", "switch-", "router-", "user-"};
	char text[TRIAD_ANONYM_MAX_LENGTH];

	do {
		size_t n = 0;

		if (kind == TRIAD_ANONYM_SERIAL) {
			draw_like(word, text);
			continue;
		}
		n = (size_t)snprintf(text, sizeof(text), "%s", prefixes[kind]);
		for (uint64_t number = draw_number(), i = 0; i < 6; i++) {
			text[n++] = letters[number % (sizeof(letters) - 1)];
			number /= sizeof(letters) - 1;
		}
		text[n] = '\0';
	} while (!claim(anonym, text));
	return g_strdup(text);
}

/* The made-up number of 'bits' bits for an original. */
static uint64_t make_up_number(
	struct triad_anonym *anonym, uint64_t original, unsigned bits)
{
	const uint64_t *known = g_hash_table_lookup(anonym->blocks, &original);
	char text[32];
	uint64_t number = 0;

	if (known)
		return *known;
	/* There may be more originals than numbers: some then share one. */
	for (unsigned n = 0; n < 100; n++) {
		number = draw_number() >> (64 - bits);
		snprintf(text, sizeof(text), "%u:%" PRIx64, bits, number);
		if (claim(anonym, text))
			break;
	}
	g_hash_table_insert(anonym->blocks, dup_number(original), dup_number(number));
	return number;
}

/* --- originals --- */

static bool is_word_character(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || (c & 0x80);
}

static char *fold(const char *text, size_t size)
{
	return g_ascii_strdown(text, (gssize)size);
}

/* "HCA-1", "mlx5_0", "ib0", "12", "MT4123", "MQM9700", "U1". */
static bool is_part_name(const char *word)
{
	static const char *const stems[] = {"hca", "mlx", "ib", "mt", "mqm", "mcx",
		"msb", "mts", "qm", "u", "hfi", "qib", ""};

	for (size_t i = 0; i < G_N_ELEMENTS(stems); i++) {
		size_t n = strlen(stems[i]);

		if (!strncmp(word, stems[i], n) &&
			!word[n + strspn(word + n, "0123456789-_.")])
			return true;
	}
	return false;
}

static bool is_weak(const struct triad_anonym *anonym, const char *word)
{
	return strlen(word) < MIN_WORD || g_hash_table_contains(anonym->common, word);
}

static void add_original(struct triad_anonym *anonym, GHashTable *table,
	enum triad_anonym_kind kind, const char *text, size_t size)
{
	g_autofree char *folded = fold(text, size);

	if (size >= TRIAD_ANONYM_MAX_LENGTH || g_hash_table_contains(table, folded))
		return;
	g_hash_table_insert(
		table, g_strdup(folded), make_up_word(anonym, kind, folded));
}

/* Words that end in a hyphen or begin with one are without it. */
static size_t word_length(const char **text)
{
	size_t n = 0;

	while (**text && (!is_word_character(**text) || **text == '-' || **text == '_'))
		++*text;
	while (is_word_character((*text)[n]))
		n++;
	while (n && ((*text)[n - 1] == '-' || (*text)[n - 1] == '_'))
		n--;
	return n;
}

/* Whether that text was added before; 'as' begins those of one kind. */
static bool is_seen(struct triad_anonym *anonym, const char *as, const char *text)
{
	char key[TRIAD_ANONYM_MAX_LENGTH];

	if ((size_t)snprintf(key, sizeof(key), "%s%s", as, text) >= sizeof(key))
		return false;
	if (g_hash_table_contains(anonym->seen, key))
		return true;
	g_hash_table_add(anonym->seen, g_strdup(key));
	return false;
}

static bool is_number(const char *word)
{
	return *word && !word[strspn(word, "0123456789")];
}

/* Whether a word of the name is a vendor's: nobody gave it. */
static bool is_of_factory(const struct triad_anonym *anonym, const char *name)
{
	for (size_t n; (n = word_length(&name)); name += n) {
		g_autofree char *folded = fold(name, n);

		if (g_hash_table_contains(anonym->factory, folded))
			return true;
	}
	return false;
}

void triad_anonym_add_name(
	struct triad_anonym *anonym, enum triad_anonym_kind kind, const char *name)
{
	const char *word = name;
	bool is_own = false, has_factory = false,
	     is_first = !is_of_factory(anonym, name);

	if (is_seen(anonym, kind == TRIAD_ANONYM_SERIAL ? "=" : "~", name))
		return;
	if (kind == TRIAD_ANONYM_SERIAL) {
		if (strlen(name) > MIN_WORD)
			add_original(anonym, anonym->words, kind, name, strlen(name));
		return;
	}
	for (size_t n; (n = word_length(&word)); word += n) {
		g_autofree char *folded = fold(word, n);

		has_factory |= g_hash_table_contains(anonym->factory, folded);
		/* The first word is the host's, also one as "ib17"; as a number it would be
		 * found everywhere. */
		if (is_first && is_number(folded)) {
			is_own = true;
			is_first = false;
			continue;
		}
		if ((is_part_name(folded) && !is_first) ||
			g_hash_table_contains(anonym->factory, folded))
			continue;
		is_first = false;
		add_original(anonym, anonym->words, kind, word, n);
		/* "Node" of a vendor's "Aggregation Node" is no name. */
		is_own |= !has_factory || !is_weak(anonym, folded);
	}
	if (is_own)
		add_original(anonym, anonym->whole, kind, name, strlen(name));
}

void triad_anonym_add_guid(struct triad_anonym *anonym, uint64_t guid)
{
	if (guid && guid != UINT64_MAX && !g_hash_table_contains(anonym->known, &guid))
		g_hash_table_add(anonym->known, dup_number(guid));
}

void triad_anonym_add_common(struct triad_anonym *anonym, const char *text)
{
	if (is_seen(anonym, "", text))
		return;
	for (size_t n; (n = word_length(&text)); text += n) {
		g_auto(GStrv) parts = NULL;
		g_autofree char *folded = fold(text, n);

		/* "node_guid" is everybody's, and so is each part of it. */
		parts = g_strsplit(folded, "_", 0);
		for (char **part = parts; *part; part++)
			g_hash_table_add(anonym->common, g_strdup(*part));
		g_hash_table_add(anonym->common, g_steal_pointer(&folded));
	}
}

void triad_anonym_report(
	struct triad_anonym *anonym, triad_anonym_found *found, void *context)
{
	anonym->found = found;
	anonym->found_context = context;
}

unsigned triad_anonym_n_words(const struct triad_anonym *anonym, unsigned *n_weak)
{
	GHashTableIter iter;
	gpointer word;

	*n_weak = 0;
	g_hash_table_iter_init(&iter, anonym->words);
	while (g_hash_table_iter_next(&iter, &word, NULL))
		*n_weak += is_weak(anonym, word);
	return g_hash_table_size(anonym->words) - *n_weak;
}

/* --- numbers in a text --- */

static bool is_private(const struct triad_anonym *anonym, uint64_t guid)
{
	if (!guid || guid == UINT64_MAX || guid == LINK_LOCAL ||
		guid >> 40 == MADE_UP_OUI)
		return false;
	return guid >> 40 || g_hash_table_contains(anonym->known, &guid);
}

/* As OpenSM's maps have them, by the last octet first; that one stays as it is. */
static int order_guids(const void *a, const void *b)
{
	const uint64_t one = GUINT64_SWAP_LE_BE(**(uint64_t *const *)a >> 8),
		       other = GUINT64_SWAP_LE_BE(**(uint64_t *const *)b >> 8);

	return (one > other) - (one < other);
}

/* Gives known GUIDs made-up ones in their order. */
static void make_up_known(struct triad_anonym *anonym)
{
	unsigned n;
	g_autofree uint64_t **guids =
		(uint64_t **)g_hash_table_get_keys_as_array(anonym->known, &n);
	uint32_t room = UINT32_MAX / (n + 1u);

	anonym->has_order = true;
	qsort(guids, n, sizeof(*guids), order_guids);
	for (unsigned i = 0; i < n; i++) {
		uint64_t original = *guids[i] >> 8;
		uint32_t number = i * room + (uint32_t)(draw_number() % room);
		char text[32];

		if (!is_private(anonym, *guids[i]) ||
			g_hash_table_contains(anonym->blocks, &original))
			continue;
		number = GUINT32_SWAP_LE_BE(number);
		snprintf(text, sizeof(text), "32:%" PRIx32, number);
		(void)claim(anonym, text);
		g_hash_table_insert(
			anonym->blocks, dup_number(original), dup_number(number));
	}
}

static uint64_t made_up_guid(struct triad_anonym *anonym, uint64_t guid)
{
	if (!is_private(anonym, guid))
		return guid;
	if (!anonym->has_order)
		make_up_known(anonym);
	return MADE_UP_OUI << 40 | make_up_number(anonym, guid >> 8, 32) << 8 |
		(guid & LOW_OCTET);
}

static size_t span_of(const char *text, const char *end, const char *characters)
{
	size_t n = 0;

	while (text + n < end && text[n] && strchr(characters, text[n]))
		n++;
	return n;
}

#define HEX "0123456789abcdefABCDEF"

static uint64_t read_hex(const char *text, size_t n)
{
	uint64_t value = 0;

	for (size_t i = 0; i < n; i++)
		if (text[i] != ':')
			value = value << 4 | (uint64_t)g_ascii_xdigit_value(text[i]);
	return value;
}

static bool ends_there(const char *text, const char *end)
{
	return text >= end || !isalnum((unsigned char)*text);
}

/* "0x0002c90300000001", "0002c90300000001", and a known one in decimals.  Returns how many octets
 * are one; 0: none. */
static size_t take_plain_guid(struct triad_anonym *anonym, const char *text,
	const char *end, char made_up[N_TEXT])
{
	bool has_0x = end - text > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
	const char *digits = text + (has_0x ? 2 : 0);
	size_t n = span_of(digits, end, HEX);
	size_t n_decimal = span_of(digits, end, "0123456789");
	uint64_t guid = n && n <= 16 ? read_hex(digits, n) : 0;
	bool is_known = guid >> 16 && g_hash_table_contains(anonym->known, &guid);

	if (!ends_there(digits + n, end))
		return 0;
	if (!is_known && !has_0x && n == n_decimal && n > 9 && n <= 20) {
		guid = g_ascii_strtoull(digits, NULL, 10);
		if (guid >> 32 && g_hash_table_contains(anonym->known, &guid))
			snprintf(made_up, N_TEXT, "%" PRIu64,
				made_up_guid(anonym, guid));
		else
			n = 0;
		return n;
	}
	if ((!is_known && !(has_0x ? n > 8 : n == 16)) || n > 16 ||
		!is_private(anonym, guid))
		return 0;
	snprintf(made_up, N_TEXT, "%s%016" PRIx64, has_0x ? "0x" : "",
		made_up_guid(anonym, guid));
	return (size_t)(digits - text) + n;
}

/* The lower half of a GID; of a group of solicited nodes [RFC 4391 4] the end of a GUID, which
 * becomes one that begins with 'a'. */
static uint64_t made_up_half(
	struct triad_anonym *anonym, uint64_t upper, uint64_t lower)
{
	uint64_t end = lower & 0xffffff;

	if (upper >> 56 != 0xff)
		return made_up_guid(anonym, lower);
	if (lower >> 24 != 0x1ff || (anonym->found && end >> 20 == 0xa))
		return lower;
	return (lower & ~UINT64_C(0xffffff)) | 0xa00000 |
		make_up_number(anonym, end | UINT64_C(6) << 60, 20);
}

static size_t take_gid(
	struct triad_anonym *anonym, const char *text, size_t n, char made_up[N_TEXT])
{
	char copy[N_TEXT], shortened[INET6_ADDRSTRLEN];
	uint8_t octets[16];
	uint64_t upper = 0, lower = 0, new_upper, new_lower;

	if (n >= sizeof(copy))
		return 0;
	memcpy(copy, text, n);
	copy[n] = '\0';
	if (inet_pton(AF_INET6, copy, octets) != 1)
		return 0;
	for (unsigned i = 0; i < 8; i++) {
		upper = upper << 8 | octets[i];
		lower = lower << 8 | octets[8 + i];
	}
	new_upper = upper >> 56 == 0xff ? upper : made_up_guid(anonym, upper);
	new_lower = made_up_half(anonym, upper, lower);
	if (new_upper == upper && new_lower == lower)
		return 0;
	for (unsigned i = 0; i < 8; i++) {
		octets[i] = (uint8_t)(new_upper >> (56 - 8 * i));
		octets[8 + i] = (uint8_t)(new_lower >> (56 - 8 * i));
	}
	for (unsigned i = 0; i < 8 && n == FULL_GID; i++)
		snprintf(made_up + 5 * i, N_TEXT - 5 * i, i < 7 ? "%04x:" : "%04x",
			octets[2 * i] << 8 | octets[2 * i + 1]);
	if (n == FULL_GID)
		return n;
	inet_ntop(AF_INET6, octets, shortened, sizeof(shortened));
	/* What began with a digit still does. */
	snprintf(made_up, N_TEXT, "%s%s", *shortened == ':' ? "0" : "", shortened);
	return n;
}

/* Groups of 'width' digits of a GUID, with colons. */
static void put_groups(uint64_t guid, unsigned bits, unsigned width, char *to)
{
	unsigned n = bits / 4;

	for (unsigned i = 0; i < n; i++) {
		if (i && i % width == 0)
			*to++ = ':';
		*to++ = "0123456789abcdef"[guid >> (4 * (n - 1 - i)) & 0xf];
	}
	*to = '\0';
}

/* A GUID, a GID, a MAC or the address of IPoIB, by colons. */
static size_t take_colons(struct triad_anonym *anonym, const char *text,
	const char *end, char made_up[N_TEXT])
{
	size_t n = span_of(text, end, HEX ":"), first = span_of(text, end, HEX);
	size_t length = 0;
	unsigned n_groups = 1;
	bool is_even = true; /* all groups have as many digits */
	uint64_t number;

	if (!ends_there(text + n, end))
		return 0;
	while (n && text[n - 1] == ':' && (n < 2 || text[n - 2] != ':'))
		n--;
	for (size_t i = 0; i <= n; i++) {
		if (i < n && text[i] != ':') {
			length++;
			continue;
		}
		is_even &= length == first;
		n_groups += i < n;
		length = 0;
	}
	if (is_even && first == 2 && n_groups == 20) {
		/* The queue pair, the GID's prefix, the GUID. */
		memcpy(made_up, text, 36);
		put_groups(made_up_guid(anonym, read_hex(text + 36, 23)), 64, 2,
			made_up + 36);
		return memcmp(made_up, text, n) ? n : 0;
	}
	number = is_even && n < N_TEXT ? read_hex(text, n) : 0;
	if (is_even &&
		((first == 2 && n_groups == 8) || (first == 4 && n_groups == 4))) {
		put_groups(made_up_guid(anonym, number), 64, (unsigned)first, made_up);
		return is_private(anonym, number) ? n : 0;
	}
	if (is_even && first == 2 && n_groups == 6) {
		if (!number || number >> 24 == MADE_UP_OUI || number >> 40 & 1)
			return 0; /* made up, multicast or broadcast */
		put_groups(MADE_UP_OUI << 24 |
				make_up_number(anonym, number | UINT64_C(2) << 60, 24),
			48, 2, made_up);
		return n;
	}
	return n_groups > 2 ? take_gid(anonym, text, n, made_up) : 0;
}

static size_t take_ipv4(struct triad_anonym *anonym, const char *text, const char *end,
	char made_up[N_TEXT])
{
	size_t n = span_of(text, end, "0123456789.");
	char copy[INET_ADDRSTRLEN];
	struct in_addr address;
	uint32_t number;

	while (n && text[n - 1] == '.')
		n--;
	if (n < 7 || n >= sizeof(copy) || !ends_there(text + n, end))
		return 0;
	memcpy(copy, text, n);
	copy[n] = '\0';
	if (inet_pton(AF_INET, copy, &address) != 1)
		return 0;
	number = ntohl(address.s_addr);
	if (!number || number >> 24 == 127 || number >> 28 >= 14 ||
		(anonym->found && number >> 17 == MADE_UP_IPV4 >> 17))
		return 0; /* of no host, or made up */
	number = MADE_UP_IPV4 |
		(uint32_t)make_up_number(anonym, number | UINT64_C(4) << 60, 17);
	address.s_addr = htonl(number);
	inet_ntop(AF_INET, &address, made_up, N_TEXT);
	return n;
}

static size_t take_number(struct triad_anonym *anonym, const char *text,
	const char *end, char before, char made_up[N_TEXT])
{
	size_t n;

	if (isalnum((unsigned char)before) || before == ':' || before == '.')
		return 0;
	n = take_colons(anonym, text, end, made_up);
	if (!n)
		n = take_plain_guid(anonym, text, end, made_up);
	return n ? n : take_ipv4(anonym, text, end, made_up);
}

/* --- words in a text --- */

/* Whether a word may end there: "leaf01" does before a "p". */
static bool ends_word(char before, char after)
{
	bool alnum = isalnum((unsigned char)before) && isalnum((unsigned char)after);

	return !alnum ||
		!isdigit((unsigned char)before) != !isdigit((unsigned char)after);
}

/* The longest word here.  Returns its length, 0: none. */
static size_t take_word(const struct triad_anonym *anonym, const char *text,
	const char *end, const char **made_up)
{
	char folded[TRIAD_ANONYM_MAX_LENGTH];
	size_t n = 0;

	while (n + 1 < sizeof(folded) && text + n < end && is_word_character(text[n])) {
		folded[n] = g_ascii_tolower(text[n]);
		n++;
	}
	for (; n; n--) {
		if (text + n < end && !ends_word(text[n - 1], text[n]))
			continue;
		folded[n] = '\0';
		*made_up = g_hash_table_lookup(anonym->words, folded);
		if (*made_up && !is_weak(anonym, folded))
			return n;
	}
	return 0;
}

/* The end of what is in quotes from 'text' on; NULL: it is not here. */
static const char *end_of_quoted(const char *text, const char *end)
{
	for (; text < end && *text != '\n'; text++) {
		if (*text == '\\' && text + 1 < end)
			text++;
		else if (*text == '"')
			return text;
	}
	return NULL;
}

static bool has_names(const char *member, size_t size)
{
	static const char *const ends[] = {
		"name", "end", "hosts", "label", "by", "user", "peer", "who"};

	for (size_t i = 0; i < G_N_ELEMENTS(ends); i++) {
		size_t n = strlen(ends[i]);

		if (size >= n && !memcmp(member + size - n, ends[i], n))
			return true;
	}
	return false;
}

/* Of "leaf:3" that of "leaf". */
static size_t length_without_port(const char *name, size_t size)
{
	size_t n = size;

	while (n && isdigit((unsigned char)name[n - 1]))
		n--;
	return n > 1 && n < size && name[n - 1] == ':' ? n - 1 : size;
}

/* A name as a whole, of which no word is looked for elsewhere; 'text' is behind a quote.  Also
 * notes which member of JSON begins. */
static size_t take_whole_name(struct triad_anonym *anonym, const char *text,
	const char *end, bool is_csv, const char **made_up)
{
	const char *quote = end_of_quoted(text, end);
	size_t n = quote ? (size_t)(quote - text) : 0;
	const char *word = NULL;
	g_autofree char *folded = NULL;

	if (!n || memchr(text, '\0', n))
		return 0;
	if (quote + 1 < end && quote[1] == ':') {
		anonym->is_of_name = has_names(text, n);
		return 0;
	}
	if (!anonym->is_of_name && !is_csv)
		return 0;
	n = length_without_port(text, n);
	folded = fold(text, n);
	*made_up = g_hash_table_lookup(anonym->whole, folded);
	/* Other names are replaced word by word, so that their parts stay. */
	for (const char *at = text; *made_up && at < text + n; at++)
		if ((at == text || !isalnum((unsigned char)at[-1])) &&
			take_word(anonym, at, text + n, &word))
			return 0;
	return *made_up ? n : 0;
}

/* --- a text --- */

static void put_made_up(const struct triad_anonym *anonym, const char *original,
	size_t size, const char *made_up, GString *to)
{
	if (anonym->found)
		anonym->found(anonym->found_context, original, size);
	else
		g_string_append(to, made_up);
}

/* Takes what begins at 'text'.  Returns its length. */
static size_t take_one(struct triad_anonym *anonym, const char *text, const char *end,
	char before, GString *to)
{
	char number[N_TEXT];
	const char *made_up = number;
	size_t n = 0;

	if (*text == '"') {
		if (!anonym->found)
			g_string_append_c(to, '"');
		n = take_whole_name(
			anonym, text + 1, end, !before || before == '\n', &made_up);
		if (n)
			put_made_up(anonym, text + 1, n, made_up, to);
		return n + 1;
	}
	if (is_word_character(*text) && !isalnum((unsigned char)before)) {
		n = take_number(anonym, text, end, before, number);
		if (!n)
			n = take_word(anonym, text, end, &made_up);
	}
	if (n)
		put_made_up(anonym, text, n, made_up, to);
	else if (!anonym->found)
		g_string_append_c(to, *text);
	return n ? n : 1;
}

void triad_anonym_begin(struct triad_anonym *anonym)
{
	g_string_truncate(anonym->rest, 0);
	anonym->previous = '\0';
	anonym->is_escaped = false;
	anonym->is_of_name = false;
}

void triad_anonym_rewrite(struct triad_anonym *anonym, const char *piece, size_t size,
	bool is_last, GString *to)
{
	size_t at = 0, until;

	g_string_append_len(anonym->rest, piece, (gssize)size);
	until = anonym->rest->len > MARGIN ? anonym->rest->len - MARGIN : 0;
	if (is_last)
		until = anonym->rest->len;
	while (at < until) {
		const char *text = anonym->rest->str + at;
		bool was_escape = anonym->previous == '\\' && !anonym->is_escaped;

		at += take_one(anonym, text, anonym->rest->str + anonym->rest->len,
			anonym->previous, to);
		anonym->previous = anonym->rest->str[at - 1];
		anonym->is_escaped = was_escape;
		/* The "n" of a newline in JSON is no letter. */
		if (was_escape && strchr("nrt", anonym->previous))
			anonym->previous = ' ';
	}
	g_string_erase(anonym->rest, 0, (gssize)at);
}
