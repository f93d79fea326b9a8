import type { CoreClient } from '@svc/sdk';
import { createContext, useContext } from 'react';

const SvcContext = createContext<CoreClient | null>(null);

export const SvcProvider = SvcContext.Provider;

/** The platform's API. */
export function useSvc(): CoreClient {
  const svc = useContext(SvcContext);
  if (svc === null) throw new Error('useSvc outside of SvcProvider');
  return svc;
}
