import { createLogger } from '@svc/telemetry';
import { fakeClock } from '@svc/testing';
import { expect, it } from 'vitest';
import type { LooseEvent } from './event-log.ts';
import { EventRecorder } from './event-recorder.ts';

it('keeps the events of a workspace while another one records more than can be queued', async () => {
  const written: LooseEvent[] = [];
  const log = createLogger({ level: 'silent', name: 'test' });
  const events = {
    append: async (batch: readonly LooseEvent[]): Promise<void> => void written.push(...batch),
    after: async () => [],
    before: async () => [],
    newest: async () => 0,
    oldest: async () => null,
    prune: async () => undefined,
  };
  const recorder = new EventRecorder(events, fakeClock(), log, 30);
  const record = (workspaceUuid: string): void =>
    recorder.record({ id: 'sbx_a', workspaceUuid }, { type: 'terminal_opened', details: {} });
  for (let count = 0; count < 50; count += 1) record('a');
  record('b');
  await recorder.close();
  const workspaces = written.map(({ workspaceUuid }) => workspaceUuid);
  expect(workspaces.filter((each) => each === 'a')).toHaveLength(10);
  expect(workspaces).toContain('b');
  for (let count = 0; count < 5; count += 1) record('a');
  await recorder.close();
  expect(written).toHaveLength(16);
});
