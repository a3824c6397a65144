/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/plugin_file.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SYMBOL "osm_event_plugin"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_ORDER ELFDATA2LSB
#else
#define OWN_ORDER ELFDATA2MSB
#endif

struct file {
	const uint8_t *octets;
	size_t size;
	Elf64_Ehdr header;
};

/* Copies 'size' octets from an offset; false when the file ends before. */
static bool copy(const struct file *file, uint64_t at, void *to, size_t size)
{
	if (at > file->size || size > file->size - at)
		return false;
	memcpy(to, file->octets + at, size);
	return true;
}

static bool read_section(const struct file *file, unsigned i, Elf64_Shdr *section)
{
	return i < file->header.e_shnum &&
		copy(file, file->header.e_shoff + i * sizeof(*section), section,
			sizeof(*section));
}

/* Converts an address of the program to an offset in the file. */
static bool find_offset(const struct file *file, uint64_t address, uint64_t *offset)
{
	for (unsigned i = 0; i < file->header.e_phnum; i++) {
		Elf64_Phdr part;

		if (!copy(file, file->header.e_phoff + i * sizeof(part), &part,
			    sizeof(part)))
			return false;
		if (part.p_type != PT_LOAD || address < part.p_vaddr ||
			address - part.p_vaddr >= part.p_filesz)
			continue;
		*offset = part.p_offset + (address - part.p_vaddr);
		return true;
	}
	return false;
}

/* Whether the 0-terminated text at offset 'at' of the file is 'text'. */
static bool is_text(const struct file *file, uint64_t at, const char *text)
{
	char found[sizeof(SYMBOL)];

	return copy(file, at, found, sizeof(found)) &&
		!memcmp(found, text, sizeof(found));
}

/* Finds the address of the symbol in a symbol section. */
static bool find_symbol_in(
	const struct file *file, const Elf64_Shdr *section, uint64_t *address)
{
	Elf64_Shdr texts;
	Elf64_Sym symbol;

	if (!read_section(file, section->sh_link, &texts))
		return false;
	for (uint64_t at = 0; at + sizeof(symbol) <= section->sh_size;
		at += sizeof(symbol)) {
		if (!copy(file, section->sh_offset + at, &symbol, sizeof(symbol)))
			return false;
		if (symbol.st_shndx == SHN_UNDEF ||
			!is_text(file, texts.sh_offset + symbol.st_name, SYMBOL))
			continue;
		*address = symbol.st_value;
		return true;
	}
	return false;
}

static bool find_symbol(const struct file *file, uint64_t *address)
{
	Elf64_Shdr section;

	for (unsigned i = 0; read_section(file, i, &section); i++)
		if (section.sh_type == SHT_DYNSYM &&
			find_symbol_in(file, &section, address))
			return true;
	return false;
}

/* Finds the target of a pointer by its relocation; only relocations without a symbol,
 * which pointers to constant texts have. */
static bool find_addend(const struct file *file, const Elf64_Shdr *section, uint64_t of,
	uint64_t *target)
{
	Elf64_Rela rela;

	for (uint64_t at = 0; at + sizeof(rela) <= section->sh_size;
		at += sizeof(rela)) {
		if (!copy(file, section->sh_offset + at, &rela, sizeof(rela)))
			return false;
		if (rela.r_offset != of || ELF64_R_SYM(rela.r_info))
			continue;
		*target = (uint64_t)rela.r_addend;
		return true;
	}
	return false;
}

static bool find_target(const struct file *file, uint64_t address, uint64_t *target)
{
	Elf64_Shdr section;
	uint64_t offset;

	for (unsigned i = 0; read_section(file, i, &section); i++)
		if (section.sh_type == SHT_RELA &&
			find_addend(file, &section, address, target))
			return true;
	/* Some linkers store the target in the place of the pointer. */
	return find_offset(file, address, &offset) &&
		copy(file, offset, target, sizeof(*target));
}

static bool is_object(const struct file *file)
{
	const unsigned char *ident = file->header.e_ident;

	return !memcmp(ident, ELFMAG, SELFMAG) && ident[EI_CLASS] == ELFCLASS64 &&
		ident[EI_DATA] == OWN_ORDER && file->header.e_type == ET_DYN &&
		file->header.e_shentsize == sizeof(Elf64_Shdr) &&
		file->header.e_phentsize == sizeof(Elf64_Phdr);
}

int triad_plugin_file_version(
	const void *octets, size_t size, char version[TRIAD_PLUGIN_VERSION_SIZE])
{
	struct file file = {.octets = octets, .size = size};
	uint64_t address, target, offset;
	size_t room;

	*version = '\0';
	if (!copy(&file, 0, &file.header, sizeof(file.header)) || !is_object(&file))
		return ENOEXEC;
	if (!find_symbol(&file, &address) || !find_target(&file, address, &target) ||
		!find_offset(&file, target, &offset) || offset >= size)
		return ENOENT;
	room = size - offset < TRIAD_PLUGIN_VERSION_SIZE - 1
		? (size_t)(size - offset)
		: TRIAD_PLUGIN_VERSION_SIZE - 1;
	room = strnlen((const char *)file.octets + offset, room);
	memcpy(version, file.octets + offset, room);
	version[room] = '\0';
	return 0;
}
