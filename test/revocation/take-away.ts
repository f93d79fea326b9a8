import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from '@svc/testing';
import { expect } from 'vitest';
import type { Open } from './open-channel.ts';
import type { Place } from './place.ts';

export interface Wanted {
  readonly name: string;
  /** It must stay open. */
  readonly isKept: boolean;
  open(place: Place): Promise<Open>;
}

/** Within this time, what was taken away is gone. */
const PROMISED_MS = 2_000;
/** A busy machine takes its time; a channel that never ends still fails the test. */
const ENDED_WITHIN_MS = 90_000;

/** In place of a channel that could not be opened. */
const NEVER: Open = { ended: new Promise(() => undefined), close: () => undefined };

/** Opens the channels, takes something away, and checks which of them end: nothing is delivered or stored by those. */
export async function takeAway(place: Place, wanted: readonly Wanted[], take: () => Promise<unknown>): Promise<void> {
  const faults: string[] = [];
  const opened = await Promise.all(
    wanted.map(async ({ name, isKept, open: opens }) => {
      const open = await opens(place).catch((error: unknown) => {
        faults.push(`${name}: ${String(error)}`);
        return NEVER;
      });
      const state = { name, isKept, open, isOver: false };
      void open.ended.then(() => (state.isOver = true));
      return state;
    }),
  );
  try {
    expect(faults).toEqual([]);
    expect(opened.filter(({ isOver }) => isOver).map(({ name }) => name)).toEqual([]);
    await take();
    const ending = opened.filter(({ isKept }) => !isKept);
    await allOver(ending.filter(({ open }) => open.hurry === undefined));
    await delay(PROMISED_MS);
    for (const { open } of ending) open.hurry?.();
    await allOver(ending);
    for (const { open } of ending) await open.verify?.();
    expect(opened.filter(({ isOver, isKept }) => isOver && isKept).map(({ name }) => name)).toEqual([]);
  } finally {
    for (const { open } of opened) open.close();
  }
}

interface State {
  readonly name: string;
  readonly open: Open;
  readonly isOver: boolean;
}

async function allOver(states: readonly State[]): Promise<void> {
  const named = ({ name, open: { state } }: State): string => (state === undefined ? name : `${name} (${state()})`);
  const left = (): string[] => states.filter(({ isOver }) => !isOver).map(named);
  const description = (): string => `the end of ${left().join(', ')}`;
  await waitFor(() => left().length === 0, { timeoutMs: ENDED_WITHIN_MS, description });
}
