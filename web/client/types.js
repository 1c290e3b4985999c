/**
 * The shapes that clients see, as SPEC §2 and §4 have them; check.js checks them in full.
 *
 * @typedef {{[name: string]: unknown}} Bag
 *
 * @typedef {object} AgEvent one event: the envelope, and the members of its type
 * @property {string} type
 * @property {number} seq
 * @property {string} [id]
 * @property {string} [turnId]
 * @property {string} [messageId]
 * @property {string} [parentId]
 * @property {Bag} [_meta]
 *
 * @typedef {{type: string, [member: string]: any}} AgBlock a content block
 *
 * @typedef {object} AgMessage
 * @property {string} id
 * @property {'user'|'assistant'|'tool'|'system'} role
 * @property {AgBlock[]} content
 * @property {string} [turnId]
 * @property {string} [threadId]
 * @property {number} [candidateIndex]
 * @property {string[]} [referenceTurnIds]
 * @property {unknown} [messageMetadata]
 * @property {string[]} [extensions]
 * @property {Bag} [metadata]
 * @property {string} [agentId]
 * @property {string} [agentName]
 * @property {string} [agentRole]
 * @property {string} [model]
 * @property {AgUsage} [usage]
 *
 * @typedef {object} AgUsage
 * @property {number} [inputTokens]
 * @property {number} [outputTokens]
 * @property {number} [cacheReadTokens]
 * @property {number} [cacheWriteTokens]
 * @property {number} [reasoningTokens]
 * @property {number} [toolUseInputTokens]
 * @property {number} [totalTokens]
 * @property {number} [costUsd]
 * @property {boolean} [cumulative]
 * @property {Record<string, AgUsage>} [byModel]
 * @property {number} [serverToolRequests]
 *
 * @typedef {{type: 'success', result?: unknown} | {type: 'error', message: string, code?: string} | {type: 'rejected', reason?: string}
 *   | {type: 'aborted', reason?: string} | {type: 'paused', asks: AgPausedAsk[], result?: unknown}} AgOutcome
 *
 * @typedef {object} AgPausedAsk
 * @property {string} askId
 * @property {'approval'|'form'|'text'|'choice'|'auth'|'url'} kind
 * @property {string} [message]
 * @property {string} [toolCallId]
 * @property {unknown} [schema]
 * @property {{id: string, label: string, value?: unknown}[]} [choices]
 * @property {Bag} [authConfig]
 * @property {string} [url]
 * @property {string} [reason]
 * @property {Bag} [metadata]
 * @property {string} [expiresAt]
 *
 * @typedef {object} AgTurnRecord
 * @property {string} turnId
 * @property {string} [parentTurnId]
 * @property {string} threadId
 * @property {AgOutcome} [outcome]
 * @property {string} [finishReason]
 * @property {AgUsage} [usage]
 * @property {{category: string, score?: number, probability?: string, blocked?: boolean}[]} [safety]
 * @property {{kind?: string, fromAgentId?: string, toAgentId?: string, toAgentName?: string}[]} [handoffs]
 * @property {string[]} [sourceIds]
 * @property {{sourceId: string, source: Record<string, any>, chunkIndex?: number, providerMetadata?: Bag}[]} [sources]
 * @property {{reason: string, safety?: object[]}} [promptBlocked]
 * @property {AgPausedAsk[]} [asks]
 * @property {string} [taskState]
 * @property {{provider: string, html: string}[]} [displayRequired]
 * @property {{kind: string, ref?: string}} [trigger]
 * @property {{target: string, passed: boolean, action?: string, reason?: string, guardrailName?: string}[]} [guardrails]
 * @property {object} [capabilities]
 *
 * @typedef {object} AgArtifact
 * @property {string} artifactId
 * @property {string} turnId
 * @property {string} threadId
 * @property {string} [name]
 * @property {string} [description]
 * @property {AgBlock[]} parts
 * @property {string[]} [extensions]
 *
 * @typedef {object} AgMemoryRecord
 * @property {'agent'|'user'|'skill'|'thread'} scope
 * @property {string} [key]
 * @property {unknown} value
 * @property {string} [reason]
 * @property {boolean} [durable]
 * @property {string} [turnId]
 * @property {string} [threadId]
 *
 * @typedef {object} AgReduceResult
 * @property {AgMessage[]} messages
 * @property {AgArtifact[]} artifacts
 * @property {AgMemoryRecord[]} memory
 * @property {AgTurnRecord[]} turns
 * @property {any} [state]
 *
 * @typedef {object} Changes what a fold changed: ids, and whether anything of a kind did
 * @property {boolean} all everything may have changed (a snapshot, or a new fold)
 * @property {boolean} order messages came or went
 * @property {Set<string>} messages
 * @property {Set<string>} turns
 * @property {Set<string>} artifacts
 * @property {boolean} memory
 * @property {boolean} state
 *
 * @module
 */

export {};
