import type { KindReference, ListPage, WatchEvent } from '@svc/kube';
import { createLogger } from '@svc/telemetry';
import { fakeClock, temporaryFolder, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';
import { openEventState } from '../state/event-state.ts';
import { Limitations } from '../status/limitations.ts';
import { ClusterEvents } from './cluster-events.ts';

/** A fake, empty API server; the test cuts its pod watches. */
class PlayedServer {
  cut: () => void = () => undefined;

  async *list(): AsyncGenerator<ListPage> {
    yield { items: [], resourceVersion: '1' };
  }

  async *watch({ kind }: KindReference, { signal }: { signal?: AbortSignal | undefined }): AsyncGenerator<WatchEvent> {
    yield { type: 'BOOKMARK', resourceVersion: '2' };
    await new Promise<void>((resolve, reject) => {
      signal?.addEventListener('abort', () => resolve(), { once: true });
      if (kind === 'Pod') this.cut = () => reject(new Error('the watch was cut'));
    });
  }
}

it('logs whenever a kind is no longer watched, and when it is again', async () => {
  await using folder = await temporaryFolder();
  const clock = fakeClock();
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLogger({ level: 'info', name: 'test', destination });
  const state = await openEventState({ folder: folder.path, clock, log });
  const client = new PlayedServer();
  const events = new ClusterEvents({
    client,
    clock,
    random: () => 0.5,
    log,
    rules: { enabled: true, scope: 'all', warnings: false },
    keyPrefix: 'svc.dev',
    namespaces: [],
    limitations: new Limitations(),
    state,
  });
  const stop = new AbortController();
  const done = events.run(stop.signal);
  const told = (words: string): number => lines.filter((line) => line.includes(words)).length;
  await waitFor(() => told('watching a kind"') === 4);
  for (const round of [1, 2]) {
    client.cut();
    await waitFor(() => told('a kind is not watched') === round);
    await waitFor(async () => {
      await clock.advance(1000);
      return told('watching a kind again') === round;
    });
  }
  expect(lines.filter((line) => line.includes('not watched')).every((line) => line.includes('"level":"warn"'))).toBe(
    true,
  );
  stop.abort();
  await done;
  await state.close();
});
