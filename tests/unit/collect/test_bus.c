/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The connection to brokers; the simulated broker greets and then hangs. */
#include "collect/nats/bus.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/run.h"
#include "triad/clock.h"

#define GREETING                                                                        \
	"INFO {\"server_id\":\"x\",\"version\":\"2.9.0\",\"proto\":1,\"headers\":true," \
	"\"max_payload\":1048576}\r\n"

static int listener;
static pthread_t broker;

static void wake(void *context)
{
}

/* Greets the client, reads until its PING, and answers that. */
static bool greet(int client)
{
	char received[4096] = "";
	size_t n = 0;

	if (write(client, GREETING, sizeof(GREETING) - 1) < 0)
		return false;
	while (n + 1 < sizeof(received) && !strstr(received, "PING\r\n")) {
		ssize_t got = read(client, received + n, sizeof(received) - 1 - n);

		if (got <= 0)
			return false;
		n += (size_t)got;
		received[n] = '\0';
	}
	return write(client, "PONG\r\n", 6) == 6;
}

/* Greets each client, then reads nothing more from it. */
static void *run_broker(void *unused)
{
	int client;

	while ((client = accept(listener, NULL, NULL)) >= 0)
		(void)!greet(client);
	return unused;
}

static void start_broker(struct triad_bus_params *params)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);

	listener = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, length), 0);
	ck_assert_int_eq(listen(listener, 8), 0);
	getsockname(listener, (struct sockaddr *)&address, &length);
	snprintf(params->servers, sizeof(params->servers), "nats://127.0.0.1:%u",
		ntohs(address.sin_port));
	snprintf(params->fabric, sizeof(params->fabric), "f");
	pthread_create(&broker, NULL, run_broker, NULL);
}

static void end_broker(void)
{
	shutdown(listener, SHUT_RDWR);
	pthread_join(broker, NULL);
	close(listener);
}

/* Without this, a broker that hangs would keep OpenSM from ending. */
START_TEST(test_broker_that_hangs_is_given_up_and_ends_nothing)
{
	static const uint8_t octets[64 * 1024];
	struct triad_bus_params params = {.id = 1};
	struct triad_bus *bus = triad_bus_new(wake, NULL, NULL);

	start_broker(&params);
	ck_assert_int_eq(triad_bus_configure(bus, &params), 0);
	while (!triad_bus_status(bus).is_connected)
		usleep(1000);
	/* The bus sends and queues until it gives up the connection. */
	while (triad_bus_status(bus).is_connected) {
		triad_bus_send(bus, TRIAD_MEMBER_TO_ALL, 0, octets, sizeof(octets));
		usleep(100);
	}
	triad_bus_free(bus);
	end_broker();
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("bus");

	tcase_add_test(cases, test_broker_that_hangs_is_given_up_and_ends_nothing);
	return run_cases(cases);
}
