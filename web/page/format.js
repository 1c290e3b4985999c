/**
 * Numbers, times and values as text.
 *
 * @module
 */

const counts = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const money = new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', maximumFractionDigits: 4 });

/** @param {number} n @returns {string} such as 1.2K */
export function count(n) {
  return counts.format(n);
}

/**
 * @param {any} usage an AgUsage
 * @returns {string} one line; '' where it says nothing
 */
export function usageLine(usage) {
  if (usage === undefined) return '';
  const parts = [
    [usage.inputTokens, 'in'],
    [usage.cacheReadTokens, 'cached'],
    [usage.outputTokens, 'out'],
    [usage.reasoningTokens, 'reasoning'],
  ].filter(([n]) => typeof n === 'number' && n > 0).map(([n, name]) => `${count(n)} ${name}`);
  if (parts.length === 0 && typeof usage.totalTokens === 'number') parts.push(`${count(usage.totalTokens)} tokens`);
  if (typeof usage.costUsd === 'number' && usage.costUsd > 0) parts.push(money.format(usage.costUsd));
  return parts.join(' · ');
}

/**
 * @param {string|undefined} iso
 * @param {number} now in milliseconds
 * @returns {string} how long ago, in one short word
 */
export function ago(iso, now) {
  const then = Date.parse(iso ?? '');
  if (Number.isNaN(then)) return '';
  const s = Math.max(0, Math.round((now - then) / 1000));
  if (s < 5) return 'now';
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m`;
  if (s < 86_400) return `${Math.floor(s / 3600)}h`;
  return `${Math.floor(s / 86_400)}d`;
}

/** @param {string} id @returns {string} the id, its middle left out where it is long */
export function shortId(id) {
  return id.length <= 24 ? id : `${id.slice(0, 12)}…${id.slice(-8)}`;
}

/**
 * @param {unknown} value
 * @param {number} max characters
 * @returns {string} one line
 */
export function oneLine(value, max) {
  const text = (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, max * 4).replace(/\s+/g, ' ').trim();
  return text.length <= max ? text : `${text.slice(0, max)}…`;
}

/** @param {string} base64 @returns {string} the size of what it encodes */
export function byteSize(base64) {
  const n = Math.floor((base64.length * 3) / 4);
  if (n < 1024) return `${n} B`;
  return n < 1 << 20 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / (1 << 20)).toFixed(1)} MiB`;
}
