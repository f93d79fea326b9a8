import { isAppError } from '@svc/errors';
import { describeFuzz } from '@svc/testing';
import { expect } from 'vitest';
import { parsePostgresUrl, type PostgresUrl } from './postgres-url.ts';

function parse(url: string): PostgresUrl | null {
  try {
    return parsePostgresUrl(url);
  } catch (error) {
    if (isAppError(error) && error.code === 'DATABASE_URL_INVALID') return null;
    throw error;
  }
}

describeFuzz({
  name: 'URLs of databases',
  corpus: new URL('./corpus/postgres-url/', import.meta.url),
  seeds: [
    'postgres://svc:secret@db.test:5432/svc?sslmode=require',
    'postgresql://a@first:1,second/db?target_session_attrs=primary&connect_timeout=5',
    'postgres:///db?host=/var/run,other&port=1,2',
    'postgres://u:p%40@[::1]:5432/x#y',
    'postgres://%zz/',
  ],
  dictionary: [
    'postgres://',
    '@',
    ':',
    ',',
    '/',
    '?',
    '#',
    '&',
    '%',
    '%2F',
    '[::1]',
    'host=',
    'port=',
    'target_session_attrs=',
    'connect_timeout=',
    '65536',
    '\0',
    ' ',
  ],
  run: (input) => {
    const url = input.toString('utf8');
    const parsed = parse(url);
    if (parsed === null) return;
    expect(parsed.addresses.length).toBeGreaterThan(0);
    expect(parsed.connectTimeoutMs ?? 1000).toBeGreaterThanOrEqual(1000);
    for (const { connectionString } of parsed.addresses) expect(connectionString).toMatch(/^postgres(?:ql)?:\/\//);
    // Messages name the servers, and no password.
    const password = /^postgres(?:ql)?:\/\/[^/?#]*:([^:@/?#]{8,})@/.exec(url)?.[1];
    if (password !== undefined && url.split(password).length === 2) expect(parsed.name).not.toContain(password);
  },
});
