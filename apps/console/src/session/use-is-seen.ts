import { useSyncExternalStore } from 'react';

/** Whether the page is visible. Browsers limit connections per host, so hidden tabs close theirs. */
export function useIsSeen(): boolean {
  return useSyncExternalStore(watchVisibility, () => document.visibilityState === 'visible');
}

function watchVisibility(changed: () => void): () => void {
  document.addEventListener('visibilitychange', changed);
  return () => document.removeEventListener('visibilitychange', changed);
}
