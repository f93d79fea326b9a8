import { createHttpApp } from '@svc/http';
import { migrations } from '@svc/migrations';
import { createLogger, createMetrics } from '@svc/telemetry';
import { describeDialects } from '@svc/testing';
import { sql } from 'kysely';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createAccountsModule, type AccountsModule } from '../../../src/module.ts';
import { keyWrapperFor } from '../../support/test-accounts.ts';
import { call } from '../../support/test-client.ts';
import { testConfig } from '../../support/test-config.ts';
import { addUser, signIn } from '../../support/test-people.ts';
import { useAccounts } from '../../support/use-accounts.ts';

const EMAIL = 'ann@example.com';

describeDialects<unknown>('an audit log that has begun', migrations, (database) => {
  const accounts = useAccounts(database);
  const run = (statement: string) => sql.raw(statement).execute(database().kysely);
  const logged: string[] = [];
  /** Another start of the platform, or `svc admin`, in the same data folder. */
  const restart = (): Promise<AccountsModule> => {
    const { kysely, dialect, events } = database();
    const log = createLogger({
      level: 'error',
      name: 'test',
      destination: { write: (line: string) => void logged.push(line) },
    });
    return createAccountsModule({
      database: { kysely, dialect, events },
      config: testConfig(),
      keyWrapper: keyWrapperFor(database()),
      dataFolder: accounts().dataFolder,
      log,
      metrics: createMetrics(),
      publicUrl: () => 'http://console.test',
    });
  };
  const newApp = ({ access, audit }: AccountsModule) =>
    createHttpApp({
      log: createLogger({ level: 'silent', name: 'test' }),
      metrics: createMetrics(),
      access,
      audit,
      version: '0',
    });
  const forge = async (): Promise<void> => {
    await addUser(accounts(), EMAIL);
    await signIn(accounts(), EMAIL);
    await call(accounts().app, 'POST', '/api/auth/login', { body: { email: EMAIL, password: 'wrong password' } });
    expect(await accounts().module.verifyAudit()).toMatchObject({ holds: true, rows: 2 });
    await run(`update account_audit set mac = null, actor_name = 'x'`);
    await run('delete from account_audit_end');
  };

  it('is not signed again after a forgery, which the next start reports', async () => {
    await forge();
    const next = await restart();
    await next.registerRoutes(await newApp(next));
    expect(logged.join('')).toContain('verify-audit');
    expect((await next.verifyAudit()).holds).toBe(false);
    await next.auditCommand('account:update', 'user/x');
    const report = await next.verifyAudit();
    expect(report).toMatchObject({ holds: false, rows: 3 });
    await next.close();
  });

  it('is not signed again by its verification, even with a data folder that never saw it begin', async () => {
    await forge();
    await rm(join(accounts().dataFolder, 'keys', 'audit-begun'));
    const verifying = await restart();
    expect((await verifying.verifyAudit()).holds).toBe(false);
    expect((await verifying.verifyAudit()).holds).toBe(false);
    await verifying.close();
  });

  it('does not begin again when all rows are gone, not even while the platform runs', async () => {
    await forge();
    await run('delete from account_audit');
    await signIn(accounts(), EMAIL);
    expect((await accounts().module.verifyAudit()).holds).toBe(false);
  });

  it('does not begin again after a remaining checkpoint', async () => {
    await addUser(accounts(), EMAIL);
    await signIn(accounts(), EMAIL);
    await run(`delete from account_audit_end where name = 'head'`);
    await run('delete from account_audit');
    await signIn(accounts(), EMAIL);
    const { holds, breaks } = await accounts().module.verifyAudit();
    expect({ holds, breaks }).toMatchObject({ holds: false, breaks: [{ reason: 'row_broken' }] });
  });

  it('still holds after a restart', async () => {
    await addUser(accounts(), EMAIL);
    await signIn(accounts(), EMAIL);
    logged.length = 0;
    const next = await restart();
    await next.auditCommand('account:update', 'user/x');
    expect(await next.verifyAudit()).toMatchObject({ holds: true, rows: 2 });
    expect(logged).toEqual([]);
    await next.close();
  });
});
