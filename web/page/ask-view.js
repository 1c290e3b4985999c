/**
 * What an agent asks of a person. The token that goes with an ask is no one's to see (SPEC §13.1).
 *
 * @module
 */

import { h } from './dom.js';
import { oneLine } from './format.js';
import { jsonView } from './json-view.js';
import { safeLink } from './safe.js';

const kinds = {
  approval: 'Approval wanted',
  form: 'Form to fill in',
  text: 'Question',
  choice: 'Choice',
  auth: 'Sign-in wanted',
  url: 'Page to visit',
};

/**
 * @param {any} ask a hitl.ask event or an AgPausedAsk
 * @param {boolean} waiting whether the answer is still awaited
 * @param {import('../client/index.js').Fold} fold
 * @returns {HTMLElement}
 */
export function askView(ask, waiting, fold) {
  const { scheme, scopes, authorizationUrl } = ask.authConfig ?? {};
  const call = ask.toolCallId === undefined ? undefined : fold.tool(ask.toolCallId).call;
  return h(
    'section',
    { class: `ask${waiting ? ' waiting' : ''}` },
    h('header', {}, h('strong', {}, kinds[ask.kind] ?? ask.kind), h('span', { class: 'dim' }, waiting ? 'awaits an answer' : 'answered or given up')),
    ask.message === undefined ? null : h('p', { dir: 'auto' }, ask.message),
    call === undefined ? null : h('p', {}, h('code', { dir: 'auto' }, `${call.name} ${oneLine(call.input, 120)}`)),
    ask.reason === undefined || ask.reason === ask.message ? null : h('p', { class: 'dim', dir: 'auto' }, ask.reason),
    ask.choices === undefined ? null : h('ul', { class: 'choices' }, ...ask.choices.map((choice) => h('li', { dir: 'auto' }, choice.label))),
    ask.url === undefined ? null : h('p', {}, safeLink(ask.url)),
    ask.authConfig === undefined ? null : h('p', { class: 'dim' }, [scheme, ...(scopes ?? [])].join(' · ')),
    authorizationUrl === undefined ? null : h('p', {}, safeLink(authorizationUrl)),
    ask.schema === undefined ? null : h('details', { class: 'fold' }, h('summary', {}, 'What is asked for'), jsonView(ask.schema)),
    ask.metadata === undefined ? null : h('details', { class: 'fold' }, h('summary', {}, 'More'), jsonView(ask.metadata)),
    ask.expiresAt === undefined ? null : h('p', { class: 'dim' }, `until ${ask.expiresAt}`),
  );
}
