import { describe, expect, it } from 'vitest';
import { parsePostgresUrl } from './postgres-url.ts';

describe('a database URL', () => {
  const connectionStrings = (url: string): string[] =>
    parsePostgresUrl(url).addresses.map(({ connectionString }) => connectionString);

  it('names one server, which may be a standby unless the URL says otherwise', () => {
    const url = 'postgres://svc:secret@db.example:5433/svc?sslmode=verify-full';
    expect(connectionStrings(url)).toEqual([url]);
    expect(parsePostgresUrl(url)).toMatchObject({ targetSession: 'any', connectTimeoutMs: null });
  });

  it('names several servers in order, each with its own port, and wants one that accepts writes', () => {
    const parsed = parsePostgresUrl('postgresql://svc:p%40ss@one:5432,two,[::1]:5434/svc?application_name=x');
    expect(parsed.addresses).toEqual([
      { name: 'one:5432', connectionString: 'postgresql://svc:p%40ss@one:5432/svc?application_name=x' },
      { name: 'two', connectionString: 'postgresql://svc:p%40ss@two/svc?application_name=x' },
      { name: '[::1]:5434', connectionString: 'postgresql://svc:p%40ss@[::1]:5434/svc?application_name=x' },
    ]);
    expect(parsed.targetSession).toBe('read-write');
  });

  it.each(['any', 'primary', 'read-write'])('accepts target_session_attrs=%s and does not pass it on', (wanted) => {
    const url = `postgres://one,two/svc?target_session_attrs=${wanted}&connect_timeout=3`;
    expect(parsePostgresUrl(url)).toMatchObject({ targetSession: wanted, connectTimeoutMs: 3_000 });
    expect(connectionStrings(url)).toEqual(['postgres://one/svc', 'postgres://two/svc']);
  });

  it('takes hosts and ports from the query, also folders of Unix sockets', () => {
    expect(connectionStrings('postgres://svc@/svc?host=one,two&port=5433')).toEqual([
      'postgres://svc@one:5433/svc',
      'postgres://svc@two:5433/svc',
    ]);
    expect(connectionStrings('postgres:///svc?host=/run/postgresql')).toEqual([
      'postgres:///svc?host=%2Frun%2Fpostgresql',
    ]);
  });

  it('is named without credentials', () => {
    expect(parsePostgresUrl('postgres://svc:secret@one:1,two:2/svc?password=secret').name).toBe(
      'postgres://one:1,two:2/svc',
    );
  });

  it.each([
    ['mysql://one/svc', 'postgres://'],
    ['postgres://one:70000/svc', 'port'],
    ['postgres://one:x/svc', 'host'],
    ['postgres://[::1/svc', 'host'],
    ['postgres:///svc?host=a,b,c&port=1,2', 'ports'],
    ['postgres://one/svc?target_session_attrs=standby', 'target_session_attrs'],
    ['postgres://one/svc?connect_timeout=0', 'connect_timeout'],
  ])('is refused with the reason and without its password: %s', (url, reason) => {
    const withPassword = url.replace('://', '://svc:geheim@');
    expect(() => parsePostgresUrl(withPassword)).toThrow(reason);
    expect(() => parsePostgresUrl(withPassword)).not.toThrow('geheim');
  });
});
