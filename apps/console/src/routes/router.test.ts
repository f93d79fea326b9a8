import { createCoreClient } from '@svc/sdk';
import { QueryClient } from '@tanstack/react-query';
import { describe, expect, it } from 'vitest';
import { paths } from './paths.ts';
import { createConsoleRouter } from './router.tsx';

describe('the routes', () => {
  it('match the list of paths by which the platform answers a real 404', () => {
    const svc = createCoreClient({ baseUrl: 'http://console.invalid', credential: { kind: 'none' } });
    const { routesByPath } = createConsoleRouter({ svc, queryClient: new QueryClient(), askToSignIn: () => undefined });
    const pages = new Set(Object.keys(routesByPath).map((path) => (path === '/' ? path : path.replace(/\/$/, ''))));
    pages.delete('/$'); // any other URL, in the shell
    expect([...pages].toSorted()).toEqual(Object.values(paths).toSorted());
  });
});
