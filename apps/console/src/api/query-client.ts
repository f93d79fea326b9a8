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
        retry: (failures, error) => failures < RETRIES && !isRefusal(error),
      },
    },
  });
}

/** Refusals don't change by themselves, nor does what a platform does not support; faults and lost connections do. */
function isRefusal(error: Error): boolean {
  return error instanceof ApiError && (error.status < 500 || error.status === 501);
}
