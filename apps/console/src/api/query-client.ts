import { ApiError, UnauthorizedError } from '@svc/sdk';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';

const RETRIES = 2;

/** `onUnauthorized` is called for every response that the session has ended. */
export function createQueryClient(onUnauthorized: () => void): QueryClient {
  const onError = (error: unknown): void => {
    if (error instanceof UnauthorizedError) onUnauthorized();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        // Retry only faults and lost connections, not refusals.
        retry: (failures, error) => failures < RETRIES && !(error instanceof ApiError && error.status < 500),
      },
    },
  });
}
