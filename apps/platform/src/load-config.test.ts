import { expect, it } from 'vitest';
import { loadPlatformConfig } from './load-config.ts';

const load = (url: string) => loadPlatformConfig({ environment: { SVC_DATABASE_URL: url }, flags: [] });

it('accepts a database URL with several servers', () => {
  const url = 'postgres://svc:secret@one:5432,two:5433/svc?target_session_attrs=primary';
  expect(load(url).value.database.url).toBe(url);
});

it('refuses a database URL that cannot be used, with the reason and without its password', () => {
  const url = 'postgres://svc:geheim@one,two/svc?target_session_attrs=standby';
  expect(() => load(url)).toThrow(/database\.url.*target_session_attrs/);
  expect(() => load(url)).not.toThrow('geheim');
});
