import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describeRequiring, POSTGRES_URL_VARIABLE, temporaryFolder } from '@svc/testing';
import { expect, it } from 'vitest';
import { commandLineOf, forwardPort } from './forwarded-port.ts';
import { startTunnels } from './tunnel-fixture.ts';

const run = promisify(execFile);

describeRequiring(['postgres', 'command:psql'], 'psql through svc forward', () => {
  it('queries a database inside the cluster, in concurrent sessions, with results of many megabytes', async () => {
    const url = new URL(process.env[POSTGRES_URL_VARIABLE] ?? '');
    const folder = await temporaryFolder('svc-psql-');
    await using fixture = await startTunnels({ forwards: { database: url.host } });
    await using forwarded = await forwardPort(commandLineOf(fixture, folder.path), 'database');
    const psql = async (sql: string): Promise<string> => {
      const flags = ['-h', '127.0.0.1', '-p', String(forwarded.port), '-U', url.username, '-d', 'postgres'];
      const env = { ...process.env, PGPASSWORD: url.password, PGSSLMODE: 'disable' };
      const options = { env, maxBuffer: 64 * 1024 * 1024 };
      return (await run('psql', [...flags, '-AtX', '-c', sql], options)).stdout.trimEnd();
    };
    const answers = await Promise.all([1, 2, 3, 4].map((number) => psql(`select ${number} * 21`)));
    expect(answers).toEqual(['21', '42', '63', '84']);
    const long = await psql(`select string_agg(repeat('x', 1000), '') from generate_series(1, 20000)`);
    expect(long.length).toBe(20_000_000);
    await folder.remove();
  });
});
