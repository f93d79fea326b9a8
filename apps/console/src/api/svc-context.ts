import type { SvcClient } from '@svc/sdk';
import { createContext, useContext } from 'react';

const SvcContext = createContext<SvcClient | null>(null);

export const SvcProvider = SvcContext.Provider;

/** The platform's API. */
export function useSvc(): SvcClient {
  const svc = useContext(SvcContext);
  if (svc === null) throw new Error('useSvc outside of SvcProvider');
  return svc;
}
