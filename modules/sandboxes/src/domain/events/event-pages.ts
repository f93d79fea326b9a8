import type { EventLog, EventScope } from './event-log.ts';
import type { SandboxEvent } from './sandbox-event.ts';

const PAGE = 500;

/** Reads the stored events page by page, oldest first. */
export async function* oldestFirst(log: EventLog, scope: EventScope): AsyncGenerator<SandboxEvent, void, undefined> {
  let after = 0;
  for (;;) {
    const page = await log.after(scope, after, PAGE);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.sequence;
  }
}

/** Reads the stored events page by page, newest first. */
export async function* newestFirst(log: EventLog, scope: EventScope): AsyncGenerator<SandboxEvent, void, undefined> {
  let before: number | null = null;
  for (;;) {
    const page: readonly SandboxEvent[] = await log.before(scope, before, PAGE);
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    before = last.sequence;
  }
}
