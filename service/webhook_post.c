/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "config.h"
#include "service/webhook_post.h"

#include <curl/curl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/text.h"
#include "perfmgr/export/http_files.h"
#include "triad/file.h"

#define ANSWER_SIZE 160 /* beginning of the server's answer, for the log */
/* Numbers of 'trouble'; a status of HTTP is its own number. */
#define TROUBLE_OF_FILES 1000
#define TROUBLE_OF_MEMORY 1001
#define TROUBLE_OF_CURL 2000

struct triad_webhook_post {
	CURLM *multi;
	CURL *easy;
	int wake_fd; /* ends a wait; -1: none */
	atomic_bool is_cancelled;
	char error[CURL_ERROR_SIZE];
	char answer[ANSWER_SIZE];
	size_t answer_length;
};

struct triad_webhook_post *triad_webhook_post_new(void)
{
	struct triad_webhook_post *post = calloc(1, sizeof(*post));

	if (!post)
		return NULL;
	post->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	/* libcurl counts these calls, so other code in this process may also make them;
	 * thread-safe. */
	if (!curl_global_init(CURL_GLOBAL_DEFAULT)) {
		post->multi = curl_multi_init();
		post->easy = curl_easy_init();
	}
	if (post->multi && post->easy && post->wake_fd >= 0)
		return post;
	triad_webhook_post_free(post);
	return NULL;
}

void triad_webhook_post_free(struct triad_webhook_post *post)
{
	if (!post)
		return;
	curl_easy_cleanup(post->easy);
	curl_multi_cleanup(post->multi);
	if (post->wake_fd >= 0)
		close(post->wake_fd);
	free(post);
}

void triad_webhook_post_cancel(struct triad_webhook_post *post)
{
	atomic_store(&post->is_cancelled, true);
	(void)eventfd_write(post->wake_fd, 1);
}

/* --- the request --- */

/* Keeps the beginning of the server's answer. */
static size_t take_answer(char *data, size_t one, size_t size, void *context)
{
	struct triad_webhook_post *post = context;
	size_t n = sizeof(post->answer) - 1 - post->answer_length;

	if (n > size)
		n = size;
	memcpy(post->answer + post->answer_length, data, n);
	post->answer_length += n;
	return size;
}

/* Programs that this process starts must not inherit the connection. */
static curl_socket_t open_socket(
	void *context, curlsocktype purpose, struct curl_sockaddr *address)
{
	return socket(
		address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static void set_target(
	struct triad_webhook_post *post, const struct triad_webhook_target *target)
{
	CURL *easy = post->easy;

	curl_easy_setopt(easy, CURLOPT_URL, target->url);
#if LIBCURL_VERSION_NUM >= 0x075500 /* 7.85 */
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
	curl_easy_setopt(easy, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	/* An empty text, not NULL: otherwise libcurl reads the environment. */
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	/* No time-outs by signals: these belong to OpenSM. */
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(
		easy, CURLOPT_CONNECTTIMEOUT_MS, (long)TRIAD_WEBHOOK_CONNECT_MS);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)TRIAD_WEBHOOK_ANSWER_MS);
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
	if (!target->ca[0])
		return;
	curl_easy_setopt(easy, CURLOPT_CAINFO, target->ca);
	/* Otherwise libcurl would also trust the system's folder of CAs. */
	curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
}

static void set_body(struct triad_webhook_post *post, const char *body, size_t size,
	const struct curl_slist *headers)
{
	CURL *easy = post->easy;

	curl_easy_setopt(easy, CURLOPT_POST, 1L);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "triad/" PACKAGE_VERSION);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_answer);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, post);
	post->error[0] = '\0';
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, post->error);
	memset(post->answer, 0, sizeof(post->answer));
	post->answer_length = 0;
}

/* --- the files --- */

static void refuse_file(
	struct triad_webhook_answer *answer, const char *path, const char *why)
{
	answer->trouble = TROUBLE_OF_FILES;
	snprintf(answer->reason, sizeof(answer->reason), "%s: %s", path, why);
}

static bool is_token(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text[i] <= ' ' || text[i] > '~')
			return false;
	return n > 0;
}

/* Makes the header with the token, the file's first line; for triad_http_forget(). */
static char *make_token_header(const char *path, struct triad_webhook_answer *answer)
{
	char why[TRIAD_FILE_REASON_SIZE], *text, *header;
	struct stat about;
	size_t n;

	if (triad_file_check_trusted(path, true, why)) {
		refuse_file(answer, path, why);
		return NULL;
	}
	if (triad_http_read_file(path, TRIAD_HTTP_TOKEN_MAX_SIZE, &text, &about,
		    answer->reason, sizeof(answer->reason))) {
		answer->trouble = TROUBLE_OF_FILES;
		return NULL;
	}
	n = strcspn(text, "\r\n");
	header = malloc(n + 32);
	if (!header)
		refuse_file(answer, path, "not enough memory");
	else if (is_token(text, n))
		snprintf(header, n + 32, "Authorization: Bearer %.*s", (int)n, text);
	else
		refuse_file(answer, path,
			"its first line is no token: printable characters without "
			"blanks are wanted");
	triad_http_forget(text);
	if (!answer->trouble)
		return header;
	free(header);
	return NULL;
}

static bool check_ca(
	const struct triad_webhook_target *target, struct triad_webhook_answer *answer)
{
	char why[TRIAD_FILE_REASON_SIZE];

	if (!target->ca[0] || !triad_file_check_trusted(target->ca, false, why))
		return true;
	refuse_file(answer, target->ca, why);
	return false;
}

static void forget_headers(struct curl_slist *headers)
{
	/* The first header may have the token: erase it. */
	if (headers)
		explicit_bzero(headers->data, strlen(headers->data));
	curl_slist_free_all(headers);
}

static bool add_header(struct curl_slist **list, const char *header)
{
	struct curl_slist *longer = curl_slist_append(*list, header);

	if (longer)
		*list = longer;
	return longer;
}

/* All headers, or NULL with 'trouble'. */
static struct curl_slist *make_headers(
	const struct triad_webhook_target *target, struct triad_webhook_answer *answer)
{
	struct curl_slist *list = NULL;
	char *token = NULL;
	bool has_all;

	if (target->token_file[0]) {
		token = make_token_header(target->token_file, answer);
		if (!token)
			return NULL;
	}
	/* An empty "Expect", or libcurl first asks whether the server takes a large
	 * body. */
	has_all = (!token || add_header(&list, token)) &&
		add_header(&list, "Content-Type: application/json") &&
		add_header(&list, "Expect:");
	triad_http_forget(token);
	if (has_all)
		return list;
	forget_headers(list);
	answer->trouble = TROUBLE_OF_MEMORY;
	snprintf(answer->reason, sizeof(answer->reason), "not enough memory");
	return NULL;
}

/* --- the answer --- */

/* Runs the transfer; returns how it ended. */
static CURLcode run_transfer(struct triad_webhook_post *post)
{
	struct curl_waitfd wake = {.fd = post->wake_fd, .events = CURL_WAIT_POLLIN};
	CURLcode code = CURLE_ABORTED_BY_CALLBACK;
	int n_running = 1, n_left;

	if (curl_multi_add_handle(post->multi, post->easy))
		return CURLE_OUT_OF_MEMORY;
	while (!atomic_load(&post->is_cancelled)) {
		const CURLMsg *message;

		if (curl_multi_perform(post->multi, &n_running)) {
			code = CURLE_FAILED_INIT;
			break;
		}
		message = curl_multi_info_read(post->multi, &n_left);
		if (message && message->msg == CURLMSG_DONE) {
			code = message->data.result;
			break;
		}
		(void)curl_multi_wait(post->multi, &wake, 1, 1000, NULL);
	}
	/* This call waits for a look-up of the name that hangs. */
	curl_multi_remove_handle(post->multi, post->easy);
	return code;
}

static void note_answer(struct triad_webhook_post *post, CURLcode code,
	struct triad_webhook_answer *answer)
{
	curl_easy_getinfo(post->easy, CURLINFO_RESPONSE_CODE, &answer->status);
	if (code) {
		/* An incomplete answer counts as none. */
		answer->status = 0;
		answer->trouble = TROUBLE_OF_CURL + (int)code;
		snprintf(answer->reason, sizeof(answer->reason), "%.200s",
			post->error[0] ? post->error : curl_easy_strerror(code));
	} else if (answer->status < 200 || answer->status >= 300) {
		answer->trouble = (int)answer->status;
		post->answer[strcspn(post->answer, "\r\n")] = '\0';
		snprintf(answer->reason, sizeof(answer->reason), "it answers %ld%s%s%s",
			answer->status,
			answer->status / 100 == 3
				? ", a redirect, which is not followed"
				: "",
			post->answer[0] ? ": " : "", post->answer);
	}
	triad_text_clean(answer->reason);
}

struct triad_webhook_answer triad_webhook_post_send(struct triad_webhook_post *post,
	const struct triad_webhook_target *target, const char *body, size_t size)
{
	struct triad_webhook_answer answer = {0};
	struct curl_slist *headers;

	if (!check_ca(target, &answer))
		return answer;
	headers = make_headers(target, &answer);
	if (!headers)
		return answer;
	/* Keeps the connection, and forgets all options. */
	curl_easy_reset(post->easy);
	set_target(post, target);
	set_body(post, body, size, headers);
	note_answer(post, run_transfer(post), &answer);
	forget_headers(headers);
	return answer;
}
