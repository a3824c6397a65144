/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "ib/rates.h"

#include "triad/fabric.h"

/* By code: bandwidth in tenths of Gb/s, and its rank among them. */
static const struct {
	uint16_t tenths;
	uint8_t rank;
} rates[TRIAD_RATE_MAX + 1] = {
	[2] = {25, 1},
	[3] = {100, 3},
	[4] = {300, 6},
	[5] = {50, 2},
	[6] = {200, 5},
	[7] = {400, 9},
	[8] = {600, 10},
	[9] = {800, 13},
	[10] = {1200, 14},
	[11] = {140, 4},
	[12] = {560, 12},
	[13] = {1120, 16},
	[14] = {1680, 17},
	[15] = {250, 7},
	[16] = {1000, 15},
	[17] = {2000, 18},
	[18] = {3000, 19},
	[19] = {280, 8},
	[20] = {500, 11},
	[21] = {4000, 20},
	[22] = {6000, 21},
	[23] = {8000, 22},
	[24] = {12000, 23},
};

/* The same, by rank.  Ranks follow the signal: FDR's 56 Gb/s outruns 50, its 112 the
 * 100 of EDR, and 120 Gb/s of QDR are less than the 100 of EDR, as OpenSM has it. */
static const uint8_t by_rank[] = {0, 2, 5, 3, 11, 6, 4, 15, 19, 7, 8, 20, 12, 9, 10, 16,
	13, 14, 17, 18, 21, 22, 23, 24};

uint8_t triad_rate_rank(uint8_t rate)
{
	return rate <= TRIAD_RATE_MAX ? rates[rate].rank : 0;
}

uint8_t triad_rate_of_rank(uint8_t rank)
{
	return rank < sizeof(by_rank) ? by_rank[rank] : 0;
}

unsigned triad_rate_tenths(uint8_t rate)
{
	return rate <= TRIAD_RATE_MAX ? rates[rate].tenths : 0;
}

uint8_t triad_rate_below(uint64_t tenths)
{
	uint8_t best = 0;

	for (uint8_t rate = TRIAD_RATE_MIN; rate <= TRIAD_RATE_MAX; rate++)
		if (rates[rate].tenths <= tenths &&
			rates[rate].tenths > triad_rate_tenths(best))
			best = rate;
	return best;
}

uint8_t triad_rate_of_link(struct triad_link_rate link)
{
	/* In tenths of Gb/s for one lane, as the names of rates have it. */
	static const uint16_t tenths[TRIAD_N_SPEEDS] = {[TRIAD_SPEED_SDR] = 25,
		[TRIAD_SPEED_DDR] = 50,
		[TRIAD_SPEED_QDR] = 100,
		[TRIAD_SPEED_FDR] = 140,
		[TRIAD_SPEED_EDR] = 250,
		[TRIAD_SPEED_HDR] = 500,
		[TRIAD_SPEED_NDR] = 1000,
		[TRIAD_SPEED_XDR] = 2000};

	return triad_rate_below(
		(uint64_t)tenths[link.speed] * triad_link_width_lanes(link.width));
}

uint8_t triad_rate_for(uint8_t rate, uint8_t caps)
{
	switch (rate) {
	case 19: /* 28 Gb/s: two lanes of FDR */
		if (caps & TRIAD_RATE_CAP_2X)
			return rate;
		return caps & TRIAD_RATE_CAP_EXTENDED ? 15 : 6;
	case 20: /* 50 Gb/s: two lanes of EDR, or one of HDR */
		return caps & (TRIAD_RATE_CAP_2X | TRIAD_RATE_CAP_HDR) ? rate : 7;
	case 21: /* 400 and 600 Gb/s: HDR or NDR */
	case 22:
		return caps & (TRIAD_RATE_CAP_HDR | TRIAD_RATE_CAP_NDR) ? rate : 18;
	case 23: /* 800 and 1,200 Gb/s: NDR */
	case 24:
		if (caps & TRIAD_RATE_CAP_NDR)
			return rate;
		/* OpenSM assumes that a port without CapabilityMask2 knows HDR. */
		return caps & TRIAD_RATE_CAP_HDR || !(caps & TRIAD_RATE_CAP_MASK2) ? 22
										   : 18;
	default:
		return rate;
	}
}

uint8_t triad_rate_original(uint8_t rate)
{
	switch (rate) {
	case 19:
		return 15;
	case 20:
		return 7;
	case 21:
	case 22:
	case 23:
	case 24:
		return 18;
	default:
		return rate;
	}
}

uint8_t triad_rate_limited(uint8_t rate, uint8_t limit)
{
	uint8_t rank = triad_rate_rank(rate), most = triad_rate_rank(limit);

	if (rate <= limit || !rank)
		return rate;
	/* Codes are not in the order of rates: compare both. */
	do
		rank--;
	while (rank > 1 && (rank > most || triad_rate_of_rank(rank) > limit));
	return rank ? triad_rate_of_rank(rank) : TRIAD_RATE_MIN;
}

unsigned triad_mtu_octets(uint8_t mtu)
{
	return mtu >= TRIAD_MTU_MIN && mtu <= TRIAD_MTU_MAX ? 128u << mtu : 0;
}
