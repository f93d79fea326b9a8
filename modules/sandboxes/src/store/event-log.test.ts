import { migrations } from '@svc/migrations';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import { createEventLog } from './event-log.ts';
import type { SandboxTables } from './tables.ts';

const event = (sandboxId: string, at: string, workspaceUuid = 'w') =>
  ({ type: 'terminal_opened', details: { session: null }, workspaceUuid, sandboxId, at }) as const;

describeDialects<SandboxTables>('EventLog', migrations, (database) => {
  const log = () => createEventLog(database().kysely);
  const numbers = async (workspaceUuid: string) =>
    (await log().after({ workspaceUuid, sandboxId: null }, 0, 100)).map(({ sequence }) => sequence);

  it('numbers the events of each workspace without gaps, even for concurrent writes', async () => {
    await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        log().append([event('sbx_a', `2026-01-0${index + 1}`), event('sbx_b', '2026-01-01', 'x')]),
      ),
    );
    expect(await numbers('w')).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await log().newest('x')).toBe(8);
    expect(await log().newest('nobody')).toBe(0);
  });

  it('selects the events of one sandbox and pages backwards', async () => {
    await log().append([event('sbx_a', '1'), event('sbx_b', '2'), event('sbx_a', '3')]);
    const scope = { workspaceUuid: 'w', sandboxId: 'sbx_a' };
    expect((await log().before(scope, null, 1)).map(({ sequence }) => sequence)).toEqual([3]);
    expect((await log().before(scope, 3, 5)).map(({ sequence }) => sequence)).toEqual([1]);
    expect(await log().after({ workspaceUuid: 'x', sandboxId: 'sbx_a' }, 0, 5)).toEqual([]);
  });

  it('keeps a type that older versions know beside one that they do not, and reads what it knows', async () => {
    const { kysely } = database();
    await log().append([{ ...event('sbx_a', '1'), type: 'draining' }, event('sbx_a', '2')]);
    const stored = await kysely
      .selectFrom('sandbox_event')
      .select(['type', 'newer_type'])
      .orderBy('sequence')
      .execute();
    expect(stored).toEqual([
      { type: 'stopped', newer_type: 'draining' },
      { type: 'terminal_opened', newer_type: null },
    ]);
    const scope = { workspaceUuid: 'w', sandboxId: null };
    expect((await log().after(scope, 0, 5)).map(({ type }) => type)).toEqual(['draining', 'terminal_opened']);
    await kysely.updateTable('sandbox_event').set({ newer_type: 'of a later version' }).execute();
    expect((await log().after(scope, 0, 5)).map(({ type }) => type)).toEqual(['stopped', 'terminal_opened']);
  });

  it('prunes old and excess events and continues the numbering', async () => {
    await log().append([event('sbx_a', '2026-01-01'), event('sbx_a', '2026-01-02'), event('sbx_a', '2026-01-03')]);
    await log().prune({ before: '2026-01-02', perWorkspace: 100 });
    expect(await numbers('w')).toEqual([2, 3]);
    await log().prune({ before: '2026-01-02', perWorkspace: 1 });
    expect(await numbers('w')).toEqual([3]);
    expect(await log().oldest('w')).toBe(3);
    await log().append([event('sbx_a', '2026-01-04')]);
    expect(await numbers('w')).toEqual([3, 4]);
  });
});
