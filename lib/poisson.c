/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/poisson.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define PRECISION 1e-15
/* Terms of the series and of the fraction: about ten times the root of the count. */
#define MAX_TERMS 20000u
#define MAX_HALVINGS 200u

/* x^a e^-x / Gamma(a), the factor of the series and the fraction. */
static double gamma_front(double a, double x)
{
	int sign;

	return exp(a * log(x) - x - lgamma_r(a, &sign));
}

/* P(a, x), for x below a + 1 [DLMF 8.7.1]. */
static double gamma_lower(double a, double x)
{
	double term = 1 / a, sum = term;

	for (unsigned i = 1; i < MAX_TERMS && term > sum * PRECISION; i++) {
		term *= x / (a + i);
		sum += term;
	}
	return sum * gamma_front(a, x);
}

/* Q(a, x) = 1 - P(a, x), for x from a + 1 on [DLMF 8.9.2], by Lentz' method. */
static double gamma_upper(double a, double x)
{
	double b = x + 1 - a, c = 1 / DBL_MIN, d = 1 / b, fraction = d, factor = 0;

	for (unsigned i = 1; i < MAX_TERMS && fabs(factor - 1) > PRECISION; i++) {
		double n = i * (a - i);

		b += 2;
		d = 1 / (n * d + b);
		c = b + n / c;
		factor = c * d;
		fraction *= factor;
	}
	return fraction * gamma_front(a, x);
}

/* The cube root of a gamma variable is nearly normal (Wilson, Hilferty 1931). */
static double gamma_upper_normal(double a, double x)
{
	double z = (cbrt(x / a) - (1 - 1 / (9 * a))) * 3 * sqrt(a);

	return erfc(z * M_SQRT1_2) / 2;
}

double triad_poisson_at_most(uint64_t n, double mean)
{
	double a = (double)n + 1;

	if (!(mean >= 0))
		return NAN;
	if (isinf(mean))
		return 0;
	if (n >= TRIAD_POISSON_EXACT)
		return gamma_upper_normal(a, mean);
	return mean < a + 1 ? 1 - gamma_lower(a, mean) : gamma_upper(a, mean);
}

/* The mean at which at most 'n' events have the chance 'chance'.  Found by halving,
 * since the chance falls as the mean grows. */
static double mean_of(uint64_t n, double chance)
{
	double low = 0, high = 1;

	while (triad_poisson_at_most(n, high) > chance) {
		low = high;
		high *= 2;
	}
	for (unsigned i = 0; i < MAX_HALVINGS; i++) {
		double middle = low + (high - low) / 2;

		if (middle <= low || middle >= high)
			break;
		if (triad_poisson_at_most(n, middle) > chance)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static bool is_chance(double chance)
{
	return chance > 0 && chance < 1;
}

struct triad_poisson_interval triad_poisson_interval(uint64_t n, double confidence)
{
	double tail = (1 - confidence) / 2;

	if (!is_chance(confidence) || !is_chance(tail))
		return (struct triad_poisson_interval){NAN, NAN};
	return (struct triad_poisson_interval){
		.low = n ? mean_of(n - 1, 1 - tail) : 0,
		.high = mean_of(n, tail),
	};
}
