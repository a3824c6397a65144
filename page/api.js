// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// Asks Triad, and keeps when it answered last.
//
// Invariant: only GET, only below this page's own address.

import {resource} from "./route.js";
import {headers} from "./token.js";

// What Triad said why there is no answer, or that there was none.
export class Problem extends Error {
	constructor(title, detail, status, isOfPast = false) {
		super(detail || title);
		this.title = title;
		this.detail = detail;
		this.status = status; // 0: no answer at all
		this.isOfPast = isOfPast; // a past moment was asked about
	}

	// Whether this Triad, in its role, has no such command.
	get isMissing() {
		return this.status === 404;
	}
}

export class Server {
	lastAnswerMs = null; // when an answer came
	lastTrouble = null; // a Problem since then, if Triad did not answer at all
	pastMessage = null; // which image the last answer about the past is of
	#onChange;

	constructor(onChange, onToken) {
		this.#onChange = onChange;
		this.onToken = onToken;
	}

	// The JSON of a command; throws a Problem.
	async get(words, options = {}, signal = undefined) {
		return (await this.#take(words, options, signal)).answer;
	}

	// {answer, message}: what people are told beside it; a Problem as an answer.
	async tell(words, options = {}, signal = undefined) {
		try {
			return await this.#take(words, options, signal);
		} catch (error) {
			if (error instanceof Problem) return {answer: error, message: null};
			throw error;
		}
	}

	async #take(words, options, signal) {
		let response, answer;
		try {
			response = await fetch(resource(words, options), {
				signal,
				headers: headers(),
			});
			answer = await response.json();
		} catch (error) {
			if (error.name === "AbortError") throw error;
			throw this.#noAnswer(
				response
					? new Problem(
							"The answer was cut or is no JSON",
							error.message,
							0,
						)
					: new Problem(
							"Triad does not answer",
							error.message,
							0,
						),
			);
		}
		// triadd is there, and the SM, which it asks, is not.
		if (response.status === 502)
			throw this.#noAnswer(new Problem(answer.title, answer.detail, 0));
		// 503: it is there, but too busy; still it is no answer to what was asked.
		this.noteAnswer();
		if (!response.ok)
			throw this.#refused(
				new Problem(
					answer.title ?? response.statusText,
					answer.detail,
					response.status,
					Boolean(options.at),
				),
			);
		const message = response.headers.get("Triad-Message");
		// With a job's number the message is about the job, too.
		if (options.at && !options.slurm) this.pastMessage = message;
		return {answer, message};
	}

	#refused(problem) {
		if (problem.status === 401) this.onToken();
		return problem;
	}

	// A stream of events; the caller looks at the response.
	stream(words, lastId, signal) {
		return fetch(resource(words), {
			signal,
			headers: headers({
				Accept: "text/event-stream",
				...(lastId ? {"Last-Event-ID": lastId} : {}),
			}),
		});
	}

	noteAnswer() {
		this.lastAnswerMs = Date.now();
		this.lastTrouble = null;
		this.#onChange();
	}

	#noAnswer(problem) {
		this.lastTrouble = problem;
		this.#onChange();
		return problem;
	}

	// The same, but a Problem as a value: for parts that a view can do without.
	async ask(words, options, signal) {
		try {
			return await this.get(words, options, signal);
		} catch (error) {
			if (error instanceof Problem) return error;
			throw error;
		}
	}
}
