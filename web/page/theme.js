/**
 * Light, dark, or as the system has it.
 *
 * @module
 */

const order = ['auto', 'light', 'dark'];
const signs = { auto: '◐', light: '☀', dark: '☾' };
const key = 'agwire.theme';

/** @param {HTMLElement} button goes through the three */
export function setUpTheme(button) {
  const set = (theme) => {
    if (theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = signs[theme];
    button.setAttribute('aria-label', `Colours: ${theme}`);
  };
  let theme = remembered();
  set(theme);
  button.addEventListener('click', () => {
    theme = order[(order.indexOf(theme) + 1) % order.length];
    remember(theme);
    set(theme);
  });
}

/** Storage may be forbidden; then nothing is remembered. */
function remembered() {
  try {
    const theme = localStorage.getItem(key);
    return order.includes(theme) ? theme : 'auto';
  } catch {
    return 'auto';
  }
}

function remember(theme) {
  try {
    localStorage.setItem(key, theme);
  } catch {
    // as above
  }
}
