import { useSyncExternalStore } from 'react';

/** Whether somebody can see the page: browsers open few connections to one host, and many tabs may stand open. */
export function useIsSeen(): boolean {
  return useSyncExternalStore(watchVisibility, () => document.visibilityState === 'visible');
}

function watchVisibility(changed: () => void): () => void {
  document.addEventListener('visibilitychange', changed);
  return () => document.removeEventListener('visibilitychange', changed);
}
