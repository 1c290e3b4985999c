/**
 * Made-up threads that show everything a page may have to show, hostile content included.
 *
 * @module
 */

const png = 'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC';
const script = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>';

function words(type, id, turnId, messageId, text) {
  return text.split(/(?<= )/).map((delta) => ({ type, id, turnId, messageId, delta }));
}

function said(role, turnId, id, text, more = {}) {
  return [
    { type: 'message.start', id, role, turnId, threadId: 'th', ...more },
    { type: 'text.start', id: `${id}:t`, turnId, messageId: id },
    ...words('text.delta', `${id}:t`, turnId, id, text),
    { type: 'text.end', id: `${id}:t`, turnId, messageId: id },
    { type: 'message.end', id, turnId },
  ];
}

function called(turnId, messageId, toolCallId, name, input) {
  const json = JSON.stringify(input);
  return [
    { type: 'tool.start', toolCallId, name, turnId, messageId },
    ...(json.match(/.{1,6}/gs) ?? []).map((delta) => ({ type: 'tool.args.delta', toolCallId, turnId, delta })),
    { type: 'tool.args.assembled', toolCallId, turnId, input },
  ];
}

function landed(turnId, toolCallId, content, more = {}) {
  return { type: 'tool.done', toolCallId, turnId, messageId: `${toolCallId}:result`, content, outcome: 'ok', ...more };
}

/** A turn with reasoning, two tools, text with citations, sources and usage. */
export function weatherTurn(n) {
  const turnId = `turn-${n}`;
  const m = `msg-${n}`;
  return [
    { type: 'turn.start', turnId, threadId: 'th', trigger: { kind: 'user' } },
    ...said('user', turnId, `user-${n}`, 'Should I take an umbrella to the harbour tomorrow?'),
    { type: 'message.start', id: m, role: 'assistant', turnId, threadId: 'th', model: 'claude-sonnet-5' },
    { type: 'reasoning.start', id: `${m}:r`, turnId, messageId: m },
    ...words('reasoning.delta', `${m}:r`, turnId, m, 'The question is about rain at one place tomorrow. I will ask for the forecast and for the tide, since the pier floods.'),
    { type: 'reasoning.end', id: `${m}:r`, turnId, messageId: m },
    { type: 'reasoning.opaque', id: `${m}:r`, turnId, kind: 'signature', value: 'sealed' },
    ...called(turnId, m, `${m}:c1`, 'get_forecast', { place: 'harbour', days: 1, units: { temperature: 'C', wind: 'km/h' } }),
    ...called(turnId, m, `${m}:c2`, 'get_tide', { station: 17 }),
    { type: 'message.end', id: m, turnId, usage: { inputTokens: 812, outputTokens: 96 } },
    landed(turnId, `${m}:c1`, [{ type: 'text', text: JSON.stringify({ rain: 0.7, wind: 31, from: 'SW', hours: [6, 9, 12, 15] }) }]),
    landed(turnId, `${m}:c2`, [], { outcome: 'error', errorText: 'Station 17 does not answer', errorCode: 'timeout', isError: true }),
    { type: 'message.start', id: `${m}b`, role: 'assistant', turnId, threadId: 'th', model: 'claude-sonnet-5' },
    { type: 'text.start', id: `${m}b:t`, turnId, messageId: `${m}b` },
    ...words('text.delta', `${m}b:t`, turnId, `${m}b`, 'Yes, take it.\n\nRain is likely (70 %), with wind from the south-west at 31 km/h:\n\n    06:00  dry\n    09:00  showers\n    12:00  rain\n\nThe tide station did not answer, so I cannot say whether the pier floods.'),
    {
      type: 'text.end',
      id: `${m}b:t`,
      turnId,
      citations: [{ kind: 'url', citedText: 'Showers spreading from the south-west, heavy at times near the coast', url: 'https://weather.example/harbour', title: 'Harbour forecast' }],
    },
    { type: 'source', sourceId: 's1', turnId, source: { url: 'https://weather.example/harbour', title: 'Harbour forecast' } },
    { type: 'source', sourceId: 's2', turnId, source: { url: 'javascript:alert(1)', title: 'Not a web address' } },
    { type: 'message.end', id: `${m}b`, turnId },
    { type: 'turn.done', turnId, outcome: { type: 'success' }, finishReason: 'stop', usage: { inputTokens: 2412, outputTokens: 231, cacheReadTokens: 1800, reasoningTokens: 44, costUsd: 0.0121 } },
  ];
}

/** A turn that hands work to a sub-agent, and waits for an approval. */
export function delegatingTurn(n) {
  const turnId = `turn-${n}`;
  const sub = `sub-${n}`;
  return [
    { type: 'turn.start', turnId, threadId: 'th' },
    ...said('user', turnId, `user-${n}`, 'Clean up the release branch and publish it.'),
    { type: 'message.start', id: `m-${n}`, role: 'assistant', turnId, threadId: 'th', agentName: 'Planner', model: 'gpt-5.6' },
    { type: 'text.start', id: `m-${n}:t`, turnId },
    ...words('text.delta', `m-${n}:t`, turnId, `m-${n}`, 'I let a reviewer look at the branch first.'),
    { type: 'text.end', id: `m-${n}:t`, turnId },
    ...called(turnId, `m-${n}`, `task-${n}`, 'delegate', { to: 'reviewer', what: 'review the release branch' }),
    { type: 'message.end', id: `m-${n}`, turnId },
    { type: 'subagent.start', turnId: sub, parentTurnId: turnId, agentName: 'reviewer' },
    { type: 'step.start', id: `step-${n}`, stepName: 'reading the branch', turnId: sub },
    { type: 'message.start', id: `sm-${n}`, role: 'assistant', turnId: sub, threadId: 'th', agentName: 'Reviewer' },
    ...called(sub, `sm-${n}`, `diff-${n}`, 'git_diff', { base: 'main', head: 'release' }),
    { type: 'message.end', id: `sm-${n}`, turnId: sub },
    landed(sub, `diff-${n}`, [{ type: 'text', text: 'diff --git a/version b/version\n-1.9.9\n+2.0.0\n' }]),
    { type: 'step.done', id: `step-${n}`, turnId: sub },
    ...said('assistant', sub, `sm2-${n}`, 'One change, the version. Nothing else differs.', { agentName: 'Reviewer' }),
    { type: 'turn.done', turnId: sub, outcome: { type: 'success' }, finishReason: 'stop', usage: { inputTokens: 300, outputTokens: 40 } },
    { type: 'subagent.done', turnId: sub, parentTurnId: turnId },
    landed(turnId, `task-${n}`, [{ type: 'text', text: 'Reviewed: one change, the version.' }]),
    { type: 'message.start', id: `m2-${n}`, role: 'assistant', turnId, threadId: 'th', agentName: 'Planner', model: 'gpt-5.6' },
    ...called(turnId, `m2-${n}`, `pub-${n}`, 'publish', { tag: 'v2.0.0', force: false }),
    { type: 'message.end', id: `m2-${n}`, turnId },
    { type: 'hitl.ask', askId: `ask-${n}`, kind: 'approval', turnId, toolCallId: `pub-${n}`, message: 'Publish v2.0.0?', reason: 'Publishing cannot be undone.', token: 'secret', choices: [{ id: 'y', label: 'Publish' }, { id: 'n', label: 'Keep it' }] },
    {
      type: 'turn.done',
      turnId,
      finishReason: 'paused',
      outcome: { type: 'paused', asks: [{ askId: `ask-${n}`, kind: 'approval', toolCallId: `pub-${n}`, message: 'Publish v2.0.0?', token: 'secret' }] },
    },
  ];
}

/** Every other kind of block, and content that tries to be more than content. */
export function hostileTurn(n) {
  const turnId = `turn-${n}`;
  const block = (b) => ({ type: 'content.block', turnId, block: b });
  return [
    { type: 'turn.start', turnId, threadId: 'th', trigger: { kind: 'webhook', ref: script } },
    ...said('user', turnId, `user-${n}`, script),
    { type: 'message.start', id: `m-${n}`, role: 'assistant', turnId, threadId: 'th', agentName: script, model: script },
    { type: 'text.start', id: `m-${n}:t`, turnId },
    ...words('text.delta', `m-${n}:t`, turnId, `m-${n}`, `${script}\u202e gnirts lortnoc idib \u202c and a very long word: ${'w'.repeat(300)} \u0000\u0007 שלום مرحبا 你好 👩‍👩‍👧`),
    { type: 'text.end', id: `m-${n}:t`, turnId, citations: [{ kind: 'url', url: 'data:text/html,<script>1</script>', citedText: script, title: script }] },
    block({ type: 'image', source: { type: 'base64', mediaType: 'image/png', data: png } }),
    block({ type: 'image', source: { type: 'base64', mediaType: 'image/svg+xml', data: 'PHN2Zy8+' } }),
    block({ type: 'image', source: { type: 'base64', mediaType: 'text/html', data: 'PGI+' } }),
    block({ type: 'image', source: { type: 'url', url: 'https://pictures.example/a.png' } }),
    block({ type: 'file', filename: script, source: { type: 'url', url: 'javascript:document.title="owned"' } }),
    block({ type: 'document', title: 'Report', source: { type: 'url', url: 'https://docs.example/report.pdf', mediaType: 'application/pdf' } }),
    block({ type: 'resource', resource: { uri: 'ui://widget', mimeType: 'text/html;profile=mcp-app', text: script } }),
    block({ type: 'resource-link', uri: 'file:///etc/passwd' }),
    block({ type: 'code', language: 'python', code: 'print("hello")\nfor i in range(3):\n    print(i)' }),
    block({ type: 'code-result', outcome: 'ok', output: 'hello\n0\n1\n2' }),
    block({ type: 'data', name: 'status', id: `d-${n}`, data: { done: 3, of: 7, __html: script } }),
    block({ type: 'search-result', url: 'https://a.example', title: 'A result' }),
    block({ type: 'provider-raw', vendor: 'acme', raw: { html: script } }),
    block({ type: 'hologram', beam: script }),
    ...called(turnId, `m-${n}`, `evil-${n}`, script, { [script]: script }),
    { type: 'message.end', id: `m-${n}`, turnId },
    landed(turnId, `evil-${n}`, [{ type: 'text', text: script }], { outcome: 'denied', structuredContent: { html: script }, uiData: { a: 1 }, sideData: [1, 2] }),
    { type: 'artifact.start', artifactId: `art-${n}`, turnId, threadId: 'th', name: 'Plan', description: 'A plan in two parts' },
    { type: 'artifact.delta', artifactId: `art-${n}`, append: false, part: { type: 'text', text: 'First, nothing. ' } },
    { type: 'artifact.delta', artifactId: `art-${n}`, append: true, part: { type: 'text', text: 'Then, nothing again.' } },
    { type: 'artifact.end', artifactId: `art-${n}`, lastChunk: true },
    { type: 'display.required', turnId, provider: 'google', html: `<div><b>Search suggestions</b> <a href="https://search.example/?q=a">umbrella</a> ${script}</div>` },
    { type: 'guardrail.result', turnId, target: 'output', passed: false, action: 'rewrite', reason: script, guardrailName: 'tone' },
    { type: 'handoff', turnId, kind: 'transfer', fromAgentId: 'a', toAgentName: 'b' },
    { type: 'prompt.blocked', turnId, reason: 'safety', safety: [{ category: 'harm' }] },
    { type: 'error', turnId, code: 'slow', message: `An advisory. ${script}` },
    { type: 'ui.surface.start', turnId, surfaceId: 'sf', catalogId: 'cat', components: [] },
    { type: 'hitl.ask', turnId, askId: `url-${n}`, kind: 'url', url: 'javascript:document.title="owned"', message: script },
    { type: 'hitl.ask', turnId, askId: `form-${n}`, kind: 'form', message: 'Your address?', schema: { type: 'object', properties: { street: { type: 'string' } } } },
    { type: 'state.snapshot', snapshot: { plan: ['a', 'b'], token: 'secret' } },
    { type: 'memory.write', scope: 'user', key: 'likes', value: ['rain'] },
    { type: 'turn.error', turnId, message: `The model gave up. ${script}`, code: 'overloaded', usage: { totalTokens: 1200 } },
  ];
}

/** A long conversation. */
export function longThread(turns) {
  return Array.from({ length: turns }, (_, n) => weatherTurn(n)).flat();
}
