/**
 * One message: who says it, and its blocks. Only blocks that changed are drawn again.
 *
 * @module
 */

import { viewOf } from './block-views.js';
import { h, setText } from './dom.js';
import { usageLine } from './format.js';

const names = { user: 'User', assistant: 'Assistant', system: 'System', tool: 'Tool' };

export class MessageView {
  #who = h('span', { class: 'who' });
  #model = h('span', { class: 'dim' });
  #head = h('header', { class: 'message-head' }, this.#who, this.#model);
  #body = h('div', { class: 'blocks' });
  /** @type {import('./block-views.js').BlockView[]} */
  #views = [];

  /** @param {string} id */
  constructor(id) {
    this.id = id;
    this.el = h('article', { class: 'message', tabindex: '-1' }, this.#head, this.#body);
  }

  /**
   * @param {any} message an AgMessage
   * @param {import('../client/index.js').Fold} fold
   */
  update(message, fold) {
    this.el.className = `message role-${message.role}`;
    const agent = message.agentName ?? message.agentId;
    setText(this.#who, agent === undefined ? names[message.role] : agent);
    setText(this.#model, [agent === undefined ? undefined : message.agentRole, message.model, candidate(message)].filter(Boolean).join(' · '));
    this.#head.title = usageLine(message.usage);
    const open = fold.isOpenMessage(message.id);
    const shown = message.content.filter((block) => !besideItsCall(block, fold));
    shown.forEach((block, i) => this.#draw(i, block, { fold, growing: open && i === shown.length - 1 }));
    for (const view of this.#views.splice(shown.length)) view.el.remove();
    this.el.hidden = shown.length === 0 && !(open && message.role === 'assistant');
    this.el.classList.toggle('awaiting', open && shown.length === 0);
  }

  #draw(i, block, context) {
    const view = this.#views[i];
    if (view?.update(block, context)) return;
    const fresh = viewOf(block, context);
    if (view === undefined) this.#body.append(fresh.el);
    else view.el.replaceWith(fresh.el);
    this.#views[i] = fresh;
  }
}

function candidate(message) {
  return message.candidateIndex === undefined || message.candidateIndex === 0 ? undefined : `candidate ${message.candidateIndex}`;
}

/** A result is shown in its call's view. */
function besideItsCall(block, fold) {
  return block.type === 'tool-result' && fold.tool(block.toolCallId).call !== undefined && fold.tool(block.toolCallId).result === block;
}
