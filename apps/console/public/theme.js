// Sets a chosen theme before the first paint. Without a choice the style sheet follows the system by itself.
(() => {
  try {
    const theme = localStorage.getItem('svc.theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    // Storage is refused in some private windows; the system's theme is used then.
  }
})();
