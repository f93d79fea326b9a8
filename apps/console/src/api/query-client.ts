import { ApiError, UnauthorizedError } from '@svc/sdk';
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';

const RETRIES = 2;

/** `onUnauthorized` hears of every answer that says the session is gone. */
export function createQueryClient(onUnauthorized: () => void): QueryClient {
  const onError = (error: unknown): void => {
    if (error instanceof UnauthorizedError) onUnauthorized();
  };
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: {
        // A refusal stays one; only faults and lost connections are worth another try.
        retry: (failures, error) => failures < RETRIES && !(error instanceof ApiError && error.status < 500),
      },
    },
  });
}
