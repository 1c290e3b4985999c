/**
 * A tool call: its name, its arguments as they stream, its result beside it wherever that landed.
 *
 * @module
 */

import { resultView } from './block-views.js';
import { h, setText } from './dom.js';
import { oneLine } from './format.js';
import { jsonView } from './json-view.js';

const states = {
  running: ['running', 'running'],
  done: ['done', 'done'],
  ok: ['done', 'done'],
  error: ['error', 'failed'],
  denied: ['denied', 'denied'],
  input_required: ['waiting', 'needs input'],
  preliminary: ['running', 'partial result'],
  unfinished: ['denied', 'no result'],
  paused: ['waiting', 'awaits an answer'],
};

export class ToolView {
  #name = h('span', { class: 'tool-name', dir: 'auto' });
  #server = h('span', { class: 'dim' });
  #preview = h('span', { class: 'preview', dir: 'ltr' });
  #state = h('span', { class: 'state' });
  #args = h('div', { class: 'tool-part' });
  #result = h('div', { class: 'tool-part' });
  #streaming = h('pre', { class: 'json streaming' });
  #shownInput;
  #shownResult;
  #touched = false;

  constructor() {
    const summary = h('summary', {}, this.#state, this.#name, this.#server, this.#preview);
    summary.addEventListener('click', () => {
      this.#touched = true;
    });
    this.el = h('details', { class: 'block tool' }, summary, h('div', { class: 'tool-body' }, this.#args, this.#result));
    this.el.open = true;
  }

  update(block, context) {
    if (block.type !== 'tool-call') return false;
    const { result, streamed, turnId } = context.fold.tool(block.toolCallId);
    setText(this.#name, block.title ?? block.name);
    this.#name.title = block.name;
    setText(this.#server, [block.serverName, block.providerExecuted ? 'run by the provider' : undefined].filter(Boolean).join(' · '));
    setText(this.#preview, streamed === '' ? argumentLine(block.input) : oneLine(streamed, 80));
    this.#drawArguments(block, streamed);
    this.#drawResult(result, turnId, context);
    return true;
  }

  #drawArguments(block, streamed) {
    if (streamed !== '') {
      setText(this.#streaming, streamed);
      if (this.#shownInput !== this.#streaming) this.#args.replaceChildren(label('Arguments'), this.#streaming);
      this.#shownInput = this.#streaming;
      this.#streaming.scrollTop = this.#streaming.scrollHeight;
      return;
    }
    if (this.#shownInput === block.input) return;
    this.#shownInput = block.input;
    const none = isEmpty(block.input);
    this.#args.hidden = none;
    if (!none) this.#args.replaceChildren(label('Arguments'), jsonView(block.input));
  }

  #drawResult(result, turnId, context) {
    const [kind, word] = states[result === undefined ? stateWithout(turnId, context.fold) : stateOf(result)];
    this.#state.className = `state state-${kind}`;
    setText(this.#state, word);
    if (result === this.#shownResult) return;
    this.#shownResult = result;
    if (result === undefined) {
      this.#result.replaceChildren();
      return;
    }
    this.#result.replaceChildren(label('Result'), resultView(result, context));
    if (!this.#touched && result.preliminary !== true) this.el.open = result.outcome !== 'ok' || sizeOf(result) < 1_500;
  }
}

function stateOf(result) {
  if (result.preliminary === true) return 'preliminary';
  if (result.outcome !== undefined) return result.outcome;
  return result.isError === true ? 'error' : 'done';
}

/** What a call without a result is at. */
function stateWithout(turnId, fold) {
  if (turnId === undefined || !fold.isClosedTurn(turnId)) return 'running';
  return fold.turn(turnId)?.outcome?.type === 'paused' ? 'paused' : 'unfinished';
}

function label(text) {
  return h('div', { class: 'label' }, text);
}

function argumentLine(input) {
  if (isEmpty(input)) return '';
  const values = typeof input === 'object' ? Object.entries(input).map(([name, value]) => `${name}: ${oneLine(value, 40)}`).join(', ') : oneLine(input, 80);
  return oneLine(values, 90);
}

function isEmpty(input) {
  return input === undefined || input === null || (typeof input === 'object' && Object.keys(input).length === 0);
}

function sizeOf(result) {
  return JSON.stringify([result.content, result.structuredContent]).length;
}
