/**
 * Reading without a stream: the list of threads, and one thread as it stands.
 *
 * @module
 */

import { apiURL } from './protocol.js';

/** An answer that is not the one asked for. */
export class ApiError extends Error {
  /**
   * @param {number} status the HTTP status
   * @param {string} code the error's code, '' where the answer has none
   * @param {string} message
   * @param {number|undefined} retryAfter seconds, where the server says when to come back
   */
  constructor(status, code, message, retryAfter) {
    super(message);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/**
 * @typedef {{thread: string, cursor: string, open: boolean, updatedAt?: string}} ThreadInfo
 */

/**
 * @param {{url: string|URL, fetch: typeof globalThis.fetch}} server
 * @param {{limit?: number, after?: string, signal?: AbortSignal}} [options] after is the `next` of the page before
 * @returns {Promise<{threads: ThreadInfo[], next?: string}>} newest activity first
 * @throws {ApiError}
 */
export async function listThreads(server, { limit, after, signal } = {}) {
  const url = apiURL(server.url, 'v1/threads');
  if (limit !== undefined) url.searchParams.set('limit', String(limit));
  if (after !== undefined) url.searchParams.set('after', after);
  return getJSON(server, url, signal);
}

/**
 * @param {{url: string|URL, fetch: typeof globalThis.fetch}} server
 * @param {string} thread
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<{thread: string, cursor: string, open: boolean, result: import('./types.js').AgReduceResult}>}
 * @throws {ApiError} with status 404 for a thread that does not exist
 */
export async function getThread(server, thread, { signal } = {}) {
  return getJSON(server, apiURL(server.url, `v1/threads/${encodeURIComponent(thread)}`), signal);
}

async function getJSON({ fetch }, url, signal) {
  const response = await fetch(url, { signal, headers: { Accept: 'application/json' } });
  if (response.ok) return response.json();
  const body = await response.json().catch(() => undefined);
  const error = body?.error ?? {};
  const after = Number(response.headers.get('Retry-After') ?? NaN);
  throw new ApiError(response.status, error.code ?? '', error.message ?? response.statusText, Number.isNaN(after) ? undefined : after);
}
