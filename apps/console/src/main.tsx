import '@fontsource-variable/inter/wght.css';
import '@fontsource-variable/geist-mono/wght.css';
import './ui/tokens.css';
import './ui/base.css';
import { createCoreClient, type TransportOptions } from '@svc/sdk';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Console } from './console.tsx';
import { createQueryClient } from './api/query-client.ts';
import { meKey, type SignedInUser } from './api/queries.ts';
import { paths } from './routes/paths.ts';
import { createConsoleRouter } from './routes/router.tsx';
import { createUploads } from './uploads/create-uploads.ts';

const queryClient = createQueryClient(leaveEndedSession);
const platform: TransportOptions = {
  baseUrl: window.location.origin,
  credential: {
    kind: 'session',
    csrfToken: () => queryClient.getQueryData<SignedInUser>(meKey)?.csrf_token ?? null,
  },
};
const svc = createCoreClient(platform);
const router = createConsoleRouter({ svc, queryClient });

/** The session ended while the console was open: to the sign-in page, and afterwards back to where this was. */
function leaveEndedSession(): void {
  if (queryClient.getQueryData(meKey) === undefined) return; // nobody was signed in; the routes' guards see to that
  queryClient.removeQueries({ queryKey: meKey });
  const next = router.state.location.href;
  void router.navigate({ to: paths.signIn, search: { next, ended: true } }).finally(() => queryClient.clear());
}

const container = document.getElementById('root');
if (container === null) throw new Error('the document has no #root');
createRoot(container).render(
  <StrictMode>
    <Console router={router} queryClient={queryClient} svc={svc} uploads={createUploads(svc, queryClient)} />
  </StrictMode>,
);
