import { waitFor, type FakeClock } from '@svc/testing';

const STEP_MS = 500;

/** Advances the clock step by step until the condition holds, and lets the work that is due run in between. */
export async function passTimeUntil(clock: FakeClock, condition: () => boolean | Promise<boolean>): Promise<void> {
  await waitFor(async () => {
    if (await condition()) return true;
    await clock.advance(STEP_MS);
    return false;
  });
}
