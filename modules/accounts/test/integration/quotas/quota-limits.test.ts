import { migrations } from '@svc/migrations';
import { createQuotaCatalogue, defineQuotas } from '@svc/quotas';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import { newUser, newWorkspace } from '../../support/test-people.ts';
import { useAccounts } from '../../support/use-accounts.ts';

const quotas = defineQuotas({
  boxes: { title: 'Boxes', unit: 'count', description: 'Boxes', workspace: 3, owner: 5 },
});

describeDialects<unknown>('the limits of a workspace', migrations, (database) => {
  const source = {
    catalogue: createQuotaCatalogue([quotas]),
    defaults: { workspace: { boxes: 3 }, owner: { boxes: 5 } },
    usage: async () => ({}),
  };
  const accounts = useAccounts(database, () => ({ quotas: source }));

  it('have defaults, and a sum over all workspaces of the owner', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const first = await newWorkspace(accounts(), ann, null);
    const second = await newWorkspace(accounts(), ann, null);
    const limits = await accounts().module.quotaLimits.readLimits(first);
    expect(limits).toMatchObject({ ownerId: ann.id, workspace: { boxes: 3 }, owner: { boxes: 5 } });
    expect(limits.ownerWorkspaces).toEqual(expect.arrayContaining([first, second]));
  });

  it('say whether anyone else owns a workspace', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const workspace = await newWorkspace(accounts(), ann, null);
    const { quotaLimits } = accounts().module;
    expect((await quotaLimits.readLimits(workspace)).isOnlyOwner).toBe(true);
    await newWorkspace(accounts(), await newUser(accounts(), 'bob@example.com'), null);
    await accounts().clock.advance(1000);
    expect((await quotaLimits.readLimits(workspace)).isOnlyOwner).toBe(false);
  });

  it('apply to a new workspace from its first use', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const first = await newWorkspace(accounts(), ann, null);
    const { quotaLimits } = accounts().module;
    await quotaLimits.readLimits(first);
    const second = await newWorkspace(accounts(), ann, null);
    await quotaLimits.readLimits(second);
    expect((await quotaLimits.readLimits(first)).ownerWorkspaces).toContain(second);
  });

  it('return the owner that a workspace shares its turns with, once they are loaded', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const workspace = await newWorkspace(accounts(), ann, null);
    const { quotaLimits } = accounts().module;
    expect(quotaLimits.shareOf(workspace)).toBe(workspace);
    await quotaLimits.readLimits(workspace);
    expect(quotaLimits.shareOf(workspace)).toBe(ann.id);
  });

  it('follow a change by another process within a second', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const workspace = await newWorkspace(accounts(), ann, null);
    const { quotaLimits } = accounts().module;
    await quotaLimits.readLimits(workspace);
    const updatedAt = accounts().clock.now().toISOString();
    const override = { quota: 'boxes', updatedAt } as const;
    await accounts().database.quotaOverrides.put({ ...override, scope: 'workspace', subject: workspace, amount: 8 });
    await accounts().database.quotaOverrides.put({ ...override, scope: 'owner', subject: ann.id, amount: null });
    await accounts().clock.advance(1000);
    const limits = await quotaLimits.readLimits(workspace);
    expect(limits).toMatchObject({ workspace: { boxes: 8 }, owner: { boxes: null } });
  });

  it('follow a local change and its removal at once', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const workspace = await newWorkspace(accounts(), ann, null);
    const { quotaLimits, quotas: book } = accounts().module;
    await quotaLimits.readLimits(workspace);
    const subject = { scope: 'workspace', subject: workspace } as const;
    await book.set(subject, 'boxes', 40);
    expect((await quotaLimits.readLimits(workspace)).workspace['boxes']).toBe(40);
    await book.unset(subject, 'boxes');
    expect((await quotaLimits.readLimits(workspace)).workspace['boxes']).toBe(3);
    await expect(book.unset(subject, 'boxes')).rejects.toMatchObject({ code: 'QUOTA_NOT_SET' });
  });

  it('refuse an unknown quota, workspace or owner', async () => {
    const ann = await newUser(accounts(), 'ann@example.com');
    const { quotas: book } = accounts().module;
    const owner = { scope: 'owner', subject: ann.id } as const;
    await expect(book.set(owner, 'bowls', 4)).rejects.toMatchObject({ code: 'UNKNOWN_QUOTA' });
    await expect(book.set({ ...owner, subject: 'nobody' }, 'boxes', 4)).rejects.toMatchObject({
      code: 'USER_NOT_FOUND',
    });
    const missing = { scope: 'workspace', subject: 'nowhere' } as const;
    await expect(book.set(missing, 'boxes', 4)).rejects.toMatchObject({ code: 'WORKSPACE_NOT_FOUND' });
  });
});
