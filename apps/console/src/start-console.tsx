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
  /** The session ended while the console was open: to the sign-in page, and afterwards back to where this was. */
  const leaveEndedSession = (): void => {
    if (queryClient.getQueryData(meKey) === undefined) return; // before the first answer, the guards of the routes do
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
    router.history.destroy(); // the address is no longer the router’s
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
