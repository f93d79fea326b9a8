import {
  newPerson,
  prepare,
  signIn,
  startWholePlatform,
  type CredentialKind,
  type Way,
  type WholePlatform,
  type World,
} from '@svc/platform/testing';
import { helperBinaries, SHARED_IMAGES } from '@svc/sandboxes/testing/local-subject';
import { afterAll, beforeAll, it } from 'vitest';
import type { Channel } from './channel.ts';
import { openPlace, type SandboxMaterial } from './place.ts';
import { PORT_CHANNELS } from './port-channels.ts';
import { SANDBOX_CHANNELS } from './sandbox-channels.ts';
import { takeAway, type Wanted } from './take-away.ts';
import { KIND, TAKINGS } from './takings.ts';

/** A driver, once its engine or cluster runs. */
export interface DriverUnderTest extends Pick<SandboxMaterial, 'image' | 'more'> {
  /** Settings of the platform as environment variables. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

const COMMON = { SVC_DISK_RESERVE_MB: '64', SVC_SANDBOXES_IMAGE_CACHE: SHARED_IMAGES };
const TIMEOUT_MS = 300_000;
/** Only the local driver has mounts. */
const CHANNELS: Readonly<Record<string, Channel>> = Object.fromEntries(
  Object.entries({ ...SANDBOX_CHANNELS, ...PORT_CHANNELS }).filter(([name]) => name !== 'a mounted bucket'),
);
/** How rights are checked does not depend on the driver; that its streams end does. */
const CASES: readonly (readonly [way: Way, kind: CredentialKind])[] = [
  ['is deleted', 'API token'],
  ['is signed out everywhere', 'JWT'],
  ['loses its member by removal', 'API token'],
];
const TAKEN = ['a sandbox is deleted', 'the links to a port are revoked', 'the ports of a sandbox become private'];

/** Registers the tests of the channels of sandboxes with this driver. */
export function sandboxesOfDriver(start: () => Promise<DriverUnderTest>): void {
  let driver: DriverUnderTest;
  let platform: WholePlatform;
  let world: World;

  beforeAll(async () => {
    driver = await start();
    platform = await startWholePlatform({ helperBinaries, environment: { ...COMMON, ...driver.environment } });
    const owner = await signIn(platform, 'owner@example.com');
    world = { platform, owner, signExternally: () => '', expiresInMs: 60_000 };
  });
  afterAll(async () => {
    await platform?.close();
    await driver?.stop();
  });

  const material = (): SandboxMaterial => ({ image: driver.image, more: driver.more, hasMounts: false });

  it.each(CASES)('ends if its %2$s %1$s', { timeout: TIMEOUT_MS }, async (way, kind) => {
    const { caller, steward, take } = await prepare(world, way, kind);
    const wanted = Object.entries(CHANNELS).flatMap(([name, { refuses, outlives, open }]): Wanted[] => {
      if ((refuses?.(kind) ?? null) !== null) return [];
      return [{ name, open, isKept: (outlives?.(way, kind) ?? null) !== null }];
    });
    const place = await openPlace(platform, kind, { caller, steward }, material());
    try {
      await takeAway(place, wanted, take);
    } finally {
      await place.close();
    }
  });

  it.each(TAKEN)('ends if %s', { timeout: TIMEOUT_MS }, async (name) => {
    const taking = TAKINGS[name];
    if (taking === undefined) throw new Error(`there is no way ${name}`);
    const { ends, stays = {}, take } = taking;
    const caller = await newPerson(world);
    const wanted = [ends, stays].flatMap((channels) =>
      Object.entries(channels).map(([each, { open }]): Wanted => ({ name: each, open, isKept: channels === stays })),
    );
    const place = await openPlace(platform, KIND, { caller, steward: caller }, material());
    try {
      await takeAway(place, wanted, () => take(place));
    } finally {
      await place.close();
    }
  });
}
