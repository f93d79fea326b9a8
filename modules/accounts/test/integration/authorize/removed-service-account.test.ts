import type { Principal } from '@svc/access';
import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import { call } from '../../support/test-client.ts';
import { newServiceAccount, newUser, newWorkspace } from '../../support/test-people.ts';
import { useAccounts } from '../../support/use-accounts.ts';

describeDialects<unknown>('an authenticated service account', migrations, (database) => {
  const accounts = useAccounts(database, () => ({}));
  const access = () => accounts().module.access;

  async function authenticated(scopes: readonly ('read' | 'admin')[]) {
    const owner = await newUser(accounts(), 'owner@example.com');
    const workspaceUuid = await newWorkspace(accounts(), owner, null);
    const account = await newServiceAccount(accounts(), owner, workspaceUuid, [...scopes]);
    const headers = { authorization: `Bearer ${account.token}` };
    const principal = await access().authenticate({ headers, method: 'GET', remoteAddress: '', isSecure: false });
    return { owner, workspaceUuid, account, principal };
  }

  it('loses all access once it is removed', async () => {
    const { owner, workspaceUuid, account, principal } = await authenticated(['admin']);
    const asked = { principal, action: 'tunnel:use', workspaceUuid } as const;
    expect(await access().authorize(asked)).toMatchObject({ role: 'service_account' });
    const path = `/api/v1/workspaces/${workspaceUuid}/service-accounts/${account.id}`;
    expect((await call(accounts().app, 'DELETE', path, { token: owner.token })).status).toBe(200);
    await expect(access().authorize(asked)).rejects.toMatchObject({ status: 401, code: 'UNAUTHORIZED' });
  });

  it('has its current scopes, whatever its principal says', async () => {
    const { workspaceUuid, principal } = await authenticated(['read']);
    const claims: Principal = { ...principal, scopes: ['admin'] };
    const asked = { principal: claims, action: 'bucket:delete', workspaceUuid } as const;
    await expect(access().authorize(asked)).rejects.toMatchObject({ status: 403 });
  });
});
