/**
 * The page by keyboard.
 *
 * @module
 */

/**
 * @param {HTMLDialogElement} dialog tells the keys
 * @param {HTMLElement} button opens it
 * @param {{next: () => void, previous: () => void, filter: () => void, raw: () => void, start: () => void, end: () => void, back: () => void}} actions
 */
export function setUpKeys(dialog, button, actions) {
  const help = () => dialog.showModal();
  const keys = { j: actions.next, k: actions.previous, '/': actions.filter, r: actions.raw, g: actions.start, G: actions.end, '?': help };
  button.addEventListener('click', help);
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || dialog.open) return;
    if (event.key === 'Escape') {
      actions.back();
      return;
    }
    if (event.target instanceof HTMLElement && event.target.matches('input, textarea, select, [contenteditable]')) return;
    const action = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined;
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
}
