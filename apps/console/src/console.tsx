import { CSPProvider } from '@base-ui/react/csp-provider';
import type { CoreClient } from '@svc/sdk';
import { QueryClientProvider, type QueryClient } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { SvcProvider } from './api/svc-context.ts';
import type { createConsoleRouter } from './routes/router.tsx';
import { ThemeProvider } from './session/theme.ts';
import { UploadsProvider, type Uploads } from './uploads/uploads-context.ts';
import { NowProvider } from './ui/time.tsx';
import { ToastArea } from './ui/toast.tsx';

export interface ConsoleProps {
  router: ReturnType<typeof createConsoleRouter>;
  queryClient: QueryClient;
  svc: CoreClient;
  uploads: Uploads;
}

export function Console({ router, queryClient, svc, uploads }: ConsoleProps) {
  return (
    // The content security policy forbids inline style elements; ui/ provides those styles.
    <CSPProvider disableStyleElements>
      <SvcProvider value={svc}>
        <QueryClientProvider client={queryClient}>
          <ThemeProvider>
            <NowProvider>
              <ToastArea>
                <UploadsProvider value={uploads}>
                  <RouterProvider router={router} />
                </UploadsProvider>
              </ToastArea>
            </NowProvider>
          </ThemeProvider>
        </QueryClientProvider>
      </SvcProvider>
    </CSPProvider>
  );
}
