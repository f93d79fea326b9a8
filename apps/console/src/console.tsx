import { CSPProvider } from '@base-ui/react/csp-provider';
import type { SvcClient } from '@svc/sdk';
import { QueryClientProvider, type QueryClient } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { SvcProvider } from './api/svc-context.ts';
import type { createConsoleRouter } from './routes/router.tsx';
import { ThemeProvider } from './session/theme.ts';
import { NowProvider } from './ui/time.tsx';
import { ToastArea } from './ui/toast.tsx';

export interface ConsoleProps {
  router: ReturnType<typeof createConsoleRouter>;
  queryClient: QueryClient;
  svc: SvcClient;
}

export function Console({ router, queryClient, svc }: ConsoleProps) {
  return (
    // The content policy allows no inline style elements; ui/ styles what they would.
    <CSPProvider disableStyleElements>
      <SvcProvider value={svc}>
        <QueryClientProvider client={queryClient}>
          <ThemeProvider>
            <NowProvider>
              <ToastArea>
                <RouterProvider router={router} />
              </ToastArea>
            </NowProvider>
          </ThemeProvider>
        </QueryClientProvider>
      </SvcProvider>
    </CSPProvider>
  );
}
