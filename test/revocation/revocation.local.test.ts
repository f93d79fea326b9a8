import {
  cases,
  prepare,
  signIn,
  startIssuer,
  startWholePlatform,
  type CredentialKind,
  type Way,
  type WholePlatform,
  type World,
} from '@svc/platform/testing';
import { helperBinaries, localDriverReason, SHARED_IMAGES } from '@svc/sandboxes/testing/local-subject';
import { skippedTitle } from '@svc/testing';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHANNELS } from './channels.ts';
import type { Open } from './open-channel.ts';
import { openPlace, type Place } from './place.ts';

const reason = localDriverReason();
const title = 'every channel of the whole platform';
const DELETED = 'loses its workspace by deletion';

/** Within this time, what was taken away is gone. */
const PROMISED_MS = 2_000;

/** In place of a channel that could not be opened. */
const NEVER: Open = { ended: new Promise(() => undefined), close: () => undefined };

const ENVIRONMENT = {
  SVC_DISK_RESERVE_MB: '64',
  SVC_SANDBOXES_IMAGE_REGISTRY: '',
  SVC_SANDBOXES_IMAGE_CACHE: SHARED_IMAGES,
  SVC_CLUSTERS_CONNECTS_PER_MINUTE: '1000',
};

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: WholePlatform;
  let issuer: Awaited<ReturnType<typeof startIssuer>>;
  let world: World;

  beforeAll(async () => {
    issuer = await startIssuer();
    platform = await startWholePlatform({
      helperBinaries,
      environment: { ...ENVIRONMENT, SVC_ACCOUNTS_TRUSTED_ISSUERS: JSON.stringify([issuer.config]) },
    });
    const owner = await signIn(platform, 'owner@example.com');
    world = { platform, owner, signExternally: (email) => issuer.sign(email), expiresInMs: 30_000 };
  });
  afterAll(async () => {
    await platform.close();
    await issuer.close();
  });

  // A workspace is deleted only when nothing is left in it that has a channel.
  it.concurrent.each(cases().filter(({ way }) => way !== DELETED))('ends if its $kind $way', async ({ way, kind }) => {
    const prepared = await prepare(world, way, kind);
    const place = await openPlace(platform, kind, prepared);
    try {
      await check(place, prepared.take, { way, kind });
    } finally {
      await place.close();
    }
  });
});

/** Opens every channel that the credential has, takes the credential away, and waits until all have ended. */
async function check(
  place: Place,
  take: () => Promise<unknown>,
  { way, kind }: { way: Way; kind: CredentialKind },
): Promise<void> {
  const usable = Object.entries(CHANNELS).filter(([, { refuses }]) => (refuses?.(kind) ?? null) === null);
  const faults: string[] = [];
  const opened = await Promise.all(
    usable.map(async ([name, channel]) => {
      const open = await channel.open(place).catch((error: unknown) => {
        faults.push(`${name}: ${String(error)}`);
        return NEVER;
      });
      const state = { name, open, isKept: (channel.outlives?.(way, kind) ?? null) !== null, isOver: false };
      void open.ended.then(() => (state.isOver = true));
      return state;
    }),
  );
  expect(faults).toEqual([]);
  const over = opened.filter(({ isOver }) => isOver).map(({ name }) => name);
  expect(over).toEqual([]);
  await take();
  const [ending, kept] = [opened.filter(({ isKept }) => !isKept), opened.filter(({ isKept }) => isKept)];
  await Promise.all(ending.map(({ open }) => (open.hurry === undefined ? open.ended : undefined)));
  await delay(PROMISED_MS);
  for (const { open } of ending) open.hurry?.();
  await Promise.all(ending.map(({ open }) => open.ended));
  await Promise.all(ending.map(({ open }) => open.verify?.()));
  expect(kept.filter(({ isOver }) => isOver).map(({ name }) => name)).toEqual([]);
  for (const { open } of opened) open.close();
}
