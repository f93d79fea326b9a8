import { createCoreClient } from '@svc/sdk';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Console } from './console.tsx';
import { createQueryClient } from './api/query-client.ts';
import { meKey, type SignedInUser } from './api/queries.ts';
import { createConsoleRouter } from './routes/router.tsx';
import { showSignIn } from './show-sign-in.ts';
import { signInPath } from './session/sign-in-path.ts';
import { createUploads } from './uploads/create-uploads.ts';

export function startConsole(container: HTMLElement): void {
  /** Handles a session that ends while the console is open: shows the sign-in page, which returns to this page. */
  const leaveEndedSession = (): void => {
    if (queryClient.getQueryData(meKey) === undefined) return; // the route guards handle the first response
    window.location.assign(signInPath(router.state.location.href, { ended: true }));
  };
  const queryClient = createQueryClient(leaveEndedSession);
  const svc = createCoreClient({
    baseUrl: window.location.origin,
    credential: {
      kind: 'session',
      csrfToken: () => queryClient.getQueryData<SignedInUser>(meKey)?.csrf_token ?? null,
    },
  });
  const root = createRoot(container);
  const askToSignIn = (href: string): void => {
    router.history.destroy(); // the router no longer owns the URL
    root.unmount();
    void showSignIn(container, href);
  };
  const router = createConsoleRouter({ svc, queryClient, askToSignIn });
  root.render(
    <StrictMode>
      <Console router={router} queryClient={queryClient} svc={svc} uploads={createUploads(svc, queryClient)} />
    </StrictMode>,
  );
}
