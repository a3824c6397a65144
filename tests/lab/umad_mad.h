/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* MADs as octets on the wire: offsets of their fields, and how the kernel classifies
 * MADs.
 *
 * Model: a MAD has 256 octets; it is passed as a pointer to its first octet.  Fields
 * are read and written in host byte order.
 *
 * Thread-safety: pure functions.
 * Source: IBA volume 1, 13.4.3 (common header), 13.6.2 (RMPP header). */
#ifndef LAB_UMAD_MAD_H
#define LAB_UMAD_MAD_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define LAB_MAD_SIZE 256u
#define LAB_MAD_HEADER_SIZE 24u
#define LAB_RMPP_HEADER_SIZE 36u

#define LAB_CLASS_SM_LID 0x01
#define LAB_CLASS_SA 0x03
#define LAB_CLASS_SM_DIRECTED 0x81
#define LAB_VENDOR2_FIRST 0x30
#define LAB_VENDOR2_LAST 0x4f
#define LAB_METHOD_TRAP_REPRESS 0x07
#define LAB_METHOD_RESPONSE 0x80

enum { LAB_RMPP_DATA = 1, LAB_RMPP_ACK, LAB_RMPP_STOP, LAB_RMPP_ABORT };
enum { LAB_RMPP_ACTIVE = 1, LAB_RMPP_FIRST = 2, LAB_RMPP_LAST = 4 };

static inline uint8_t lab_mad_class(const uint8_t *mad)
{
	return mad[1];
}

static inline uint8_t lab_mad_method(const uint8_t *mad)
{
	return mad[3];
}

static inline uint16_t lab_mad_attribute(const uint8_t *mad)
{
	return (uint16_t)(mad[16] << 8 | mad[17]);
}

static inline uint64_t lab_mad_tid(const uint8_t *mad)
{
	uint64_t tid;

	memcpy(&tid, mad + 8, sizeof(tid));
	return be64toh(tid);
}

static inline void lab_mad_set_tid(uint8_t *mad, uint64_t tid)
{
	tid = htobe64(tid);
	memcpy(mad + 8, &tid, sizeof(tid));
}

/* TrapRepress is the response to a Trap, although its method lacks the response bit. */
static inline bool lab_mad_is_response(const uint8_t *mad)
{
	return (lab_mad_method(mad) & LAB_METHOD_RESPONSE) ||
		lab_mad_method(mad) == LAB_METHOD_TRAP_REPRESS;
}

static inline bool lab_class_is_vendor2(uint8_t mgmt_class)
{
	return mgmt_class >= LAB_VENDOR2_FIRST && mgmt_class <= LAB_VENDOR2_LAST;
}

static inline bool lab_class_is_smi(uint8_t mgmt_class)
{
	return mgmt_class == LAB_CLASS_SM_LID || mgmt_class == LAB_CLASS_SM_DIRECTED;
}

/* Whether MADs of that class have an RMPP header. */
static inline bool lab_class_has_rmpp(uint8_t mgmt_class)
{
	return mgmt_class == LAB_CLASS_SA || mgmt_class == 0x06 || mgmt_class == 0x10 ||
		mgmt_class == 0x12 || lab_class_is_vendor2(mgmt_class);
}

/* Offset of the data in MADs of that class; each segment of a message repeats the
 * headers before it. */
static inline size_t lab_class_data_offset(uint8_t mgmt_class)
{
	if (mgmt_class == LAB_CLASS_SA)
		return 56;
	if (mgmt_class == 0x06 || mgmt_class == 0x10 || mgmt_class == 0x12)
		return 64;
	return lab_class_is_vendor2(mgmt_class) ? 40 : LAB_MAD_HEADER_SIZE;
}

static inline uint8_t lab_rmpp_flags(const uint8_t *mad)
{
	return mad[26] & 0x07;
}

static inline uint32_t lab_mad_get32(const uint8_t *octets)
{
	uint32_t value;

	memcpy(&value, octets, sizeof(value));
	return be32toh(value);
}

static inline void lab_mad_set32(uint8_t *octets, uint32_t value)
{
	value = htobe32(value);
	memcpy(octets, &value, sizeof(value));
}

/* The segment's number; in an ACK, that of the last segment received. */
static inline uint32_t lab_rmpp_segment(const uint8_t *mad)
{
	return lab_mad_get32(mad + 28);
}

/* In DATA, the payload's length; in an ACK, the last segment of the window. */
static inline uint32_t lab_rmpp_length(const uint8_t *mad)
{
	return lab_mad_get32(mad + 32);
}

/* Makes the MAD an RMPP packet of that type.  RRespTime, which shares an octet with the
 * flags, is kept. */
static inline void lab_rmpp_set(
	uint8_t *mad, uint8_t type, uint8_t flags, uint32_t segment, uint32_t length)
{
	mad[24] = 1;
	mad[25] = type;
	mad[26] = (uint8_t)((mad[26] & 0xf8) | flags);
	lab_mad_set32(mad + 28, segment);
	lab_mad_set32(mad + 32, length);
}

#endif
