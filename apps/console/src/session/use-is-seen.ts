import { useSyncExternalStore } from 'react';

/** Whether the page is visible. Browsers open few connections per host, so hidden tabs give theirs up. */
export function useIsSeen(): boolean {
  return useSyncExternalStore(watchVisibility, () => document.visibilityState === 'visible');
}

function watchVisibility(changed: () => void): () => void {
  document.addEventListener('visibilitychange', changed);
  return () => document.removeEventListener('visibilitychange', changed);
}
