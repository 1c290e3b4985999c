/**
 * The JavaScript client of Agwire: no dependencies, ES modules, for browsers and Node 20 and later.
 *
 * @module
 */

export { ApiError } from './api.js';
export { checkEvent, checkValue } from './check.js';
export { Client } from './client.js';
export { Fold, reduce } from './fold.js';
export { applyPatch, PatchError } from './jsonpatch.js';
export { clone, equal } from './json.js';
export { Live } from './live.js';
export { closeCodes, comesBack, describeClose, subprotocol } from './protocol.js';
export { Subscription } from './subscription.js';
